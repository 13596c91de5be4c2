// The first card: a line that brings a new device here, and the device when it has arrived.

import * as api from '../shared/api.js';
import { badge, busy, button, element, prose, replace } from '../shared/dom.js';
import { copy, installer, installLine } from './install_line.js';
import { section } from './section.js';

/** How long a key of this card is good for, in milliseconds. */
const GOOD_FOR = 86_400_000;
const PULL =
  'This backend publishes no release yet. First run `link-backend releases pull URL` on its server.';

export function installSection(reload) {
  const { card, body } = section({
    id: 'install',
    title: 'Add a device',
    hint: 'Run this line in a terminal of the device. It installs Link, registers the device and starts the agent.',
  });
  // What the backend said of its installer, the ids of the known devices, and the key that waits for its device.
  let found = { knows: true, publishes: true };
  let known = new Set();
  let waiting = null;

  const code = element('code', { id: 'install-line' });
  const status = element('p', { class: 'install-status', role: 'status' });
  const missing = element('p', { class: 'hint', hidden: true }, ...prose(PULL));
  const make = button('Make a key and copy the line', { id: 'install-make', class: 'primary' });
  make.addEventListener('click', async () => {
    try {
      await busy(make, makeKey);
    } catch (error) {
      replace(status, api.explain(error));
    }
    reload();
  });
  body.append(
    element('div', { class: 'secret' }, missing, code, element('div', { class: 'install-foot' }, make, status)),
  );

  function write(key) {
    code.textContent = installLine(found, 'registration', key);
    missing.hidden = found.publishes;
  }

  async function look() {
    found = await installer();
    if (!waiting) write('…');
  }

  async function makeKey() {
    await look();
    const expires_at = new Date(Date.now() + GOOD_FOR).toISOString();
    const { key, info } = await api.createKey({ kind: 'registration', name: 'Dashboard', expires_at });
    waiting = { id: info.key_id, before: known };
    write(key);
    const copied = await copy(code);
    replace(status, `${copied}. The key registers one device within a day. `, badge('Waiting for the device…', 'busy'));
  }

  write('…');
  look().catch(() => {});
  return {
    card,
    show({ devices, keys }) {
      known = new Set(devices.map((device) => device.device_id));
      const used = waiting && keys.some((key) => key.key_id === waiting.id && key.devices > 0);
      const arrived = used && devices.find((device) => !waiting.before.has(device.device_id));
      if (!arrived) return;
      const state = arrived.online ? badge('Online', 'good') : badge('Registered', 'busy');
      replace(status, `${arrived.name} has arrived. `, state);
      if (!arrived.online) return;
      waiting = null;
      write('…');
    },
  };
}
