// The devices of the account, the update of each, and the form that takes the code of one that was
// uninstalled.

import * as api from '../shared/api.js';
import { badge, busy, element, field } from '../shared/dom.js';
import { ago, modelName, moment } from '../shared/format.js';
import { notice } from '../shared/notice.js';
import { isUpdating } from './presence.js';
import { opening, section, table } from './section.js';
import { updateControls } from './update.js';
import { sample, usage } from './usage.js';

export function devicesSection(reload) {
  const { card, body } = section({ id: 'devices', title: 'Devices' });
  card.append(opening('Retire a device with its code', form(reload)));
  const control = updateControls(reload);
  const draw = table(body, {
    columns: ['Device', 'State', 'Version', 'Platform', 'Usage', 'Last seen', 'Actions'],
    empty: 'No device is registered. Add one with the line above.',
    row: (device, models) => [
      [device.name, element('span', { class: 'sub mono' }, device.device_id)],
      state(device),
      version(device),
      [
        `${device.platform.os} ${device.platform.arch}`,
        element('span', { class: 'sub' }, device.platform.hostname),
      ],
      usage(device.system, models),
      element('span', { title: device.seen_at }, device.seen),
      element(
        'div',
        { class: 'actions' },
        isUpdating(device) ? null : control(device),
      ),
    ],
  });
  return {
    card,
    show: ({ devices, models }) =>
      draw(
        devices.map(({ last_seen_at: seen, ...device }) => ({
          ...device,
          system: sample(device),
          seen: device.online ? 'now' : ago(seen),
          seen_at: device.online ? '' : moment(seen),
        })),
        models.map((model) => ({ model_id: model.model_id, name: modelName(model) })),
      ),
  };
}

function state(device) {
  if (isUpdating(device)) return badge('Updating…', 'busy');
  if (device.online) return badge('Online', 'good');
  const offline = badge('Offline', 'calm');
  if (device.status !== 'updating') return offline;
  return [offline, element('span', { class: 'sub' }, 'was updating')];
}

function version({ agent_version: runs, last_update: last }) {
  const shown = [element('span', { class: 'mono' }, runs)];
  if (last?.outcome === 'rolled_back') {
    const why = last.reason ? `: ${last.reason}` : '';
    shown.push(element('span', { class: 'sub' }, `${last.to} was rolled back${why}`));
  } else if (last?.to === runs) {
    shown.push(element('span', { class: 'sub' }, `updated from ${last.from}`));
  }
  return shown;
}

function form(reload) {
  const code = element('input', {
    id: 'retire-code',
    class: 'mono',
    autocomplete: 'off',
    spellcheck: 'false',
    required: true,
  });
  const failed = element('p', { class: 'form-error', role: 'alert' });
  const retire = element('button', { type: 'submit', class: 'primary' }, 'Retire the device');
  const sent = async (event) => {
    event.preventDefault();
    failed.textContent = '';
    try {
      await busy(retire, () => api.retireDevice(code.value));
      notice('The device is retired, and its slot is free.');
      code.value = '';
    } catch (error) {
      failed.textContent = api.explain(error);
      code.focus();
    }
    reload();
  };
  return element(
    'form',
    { on: { submit: sent } },
    field('Retire code', code, 'The code that `link uninstall --force` printed. It starts with lrc_.'),
    element('div', { class: 'form-foot' }, retire, failed),
  );
}
