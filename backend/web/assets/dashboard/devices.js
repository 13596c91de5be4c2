// The devices of the account.

import { badge, element } from '../shared/dom.js';
import { ago, moment } from '../shared/format.js';
import { section, table } from './section.js';

export function devicesSection() {
  const { card, body } = section({ id: 'devices', title: 'Devices' });
  const draw = table(body, {
    columns: ['Device', 'State', 'Version', 'Platform', 'Last seen'],
    empty: 'No device is registered. Create a key below and run `link register` on the device.',
    row: (device) => [
      [device.name, element('span', { class: 'sub mono' }, device.device_id)],
      state(device),
      element('span', { class: 'mono' }, device.agent_version),
      [
        `${device.platform.os} ${device.platform.arch}`,
        element('span', { class: 'sub' }, device.platform.hostname),
      ],
      element('span', { title: device.seen_at }, device.seen),
    ],
  });
  return {
    card,
    show: ({ devices }) =>
      draw(
        devices.map(({ last_seen_at: seen, ...device }) => ({
          ...device,
          seen: device.online ? 'now' : ago(seen),
          seen_at: device.online ? '' : moment(seen),
        })),
      ),
  };
}

function state(device) {
  if (device.status === 'updating') return badge('Updating…', 'busy');
  if (device.online) return badge('Online', 'good');
  return badge('Offline', 'calm');
}
