// The devices that the filter shows as CSV, safe to open in a spreadsheet. Pure.

import { stateOf } from '../../data/selection';
import type { Device } from '../../data/types';
import { text } from '../../text';
import { csvDocument } from '../../ui/csv';
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
  return csvDocument(text.devices.csvColumns, lines);
}
