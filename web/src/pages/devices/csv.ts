// The devices that the filter shows as CSV, safe to open in a spreadsheet. Pure.

import { stateOf } from '../../data/selection';
import type { Device } from '../../data/types';
import { text } from '../../text/en';
import type { ByDevice } from './view';

/** Returns a document with a line for each device. */
export function csv(devices: readonly Device[], byDevice: ByDevice): string {
  const lines = devices.map((device) => {
    const { platform, system } = device;
    return [
      device.device_id,
      device.name,
      stateOf(device),
      device.agent_version,
      platform.os,
      platform.arch,
      platform.hostname,
      (byDevice.get(device.device_id) ?? []).map(({ alias }) => alias).join(' '),
      system?.cpu_percent,
      system?.memory.used_bytes,
      system?.memory.total_bytes,
      system?.disk?.free_bytes,
      system?.disk?.total_bytes,
      (device.tags ?? []).join(' '),
      device.last_seen_at,
    ];
  });
  const rows = [text.devices.csvColumns, ...lines];
  return rows.map((row) => row.map(cell).join(',') + '\r\n').join('');
}

/**
 * Quotes a value. A text that a spreadsheet would read as a formula gets an apostrophe in front, also if the formula
 * follows a `;`, a tab or a line break: a spreadsheet that takes it for a separator begins a cell there.
 */
export function cell(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const inside = value.replace(/([;\t\r\n]["\s\u0000]*)(?=[=+\-@\uff0b\uff0d\uff1d\uff20])/gu, "$1'");
  const harmless = /^[\s\u0000]*[=+\-@\uff0b\uff0d\uff1d\uff20]|^[\t\r\n]/u.test(value) ? `'${inside}` : inside;
  return /[",;\t\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
