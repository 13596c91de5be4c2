// The change of a device's name and tags: what is asked for, and what the pages show until the backend has answered.

import { ask, PATCH } from './client';
import { devices } from './store';
import type { Device } from './types';
import { PendingChanges } from './pending';

export interface DeviceChange {
  name?: string;
  add_tags?: string[];
  remove_tags?: string[];
}

const pending = new PendingChanges<DeviceChange>();

export async function changeDevice(id: string, change: DeviceChange): Promise<Device> {
  return pending.during(id, change, async () => {
    const device = await ask(PATCH('/api/v1/devices/{device_id}', { params: { path: { device_id: id } }, body: change }));
    devices.changed(device);
    return device;
  });
}

/** Returns the name that the device is being given, if it is. */
export function nameAskedFor(id: string): string | undefined {
  return pending.of(id).findLast(({ name }) => name !== undefined)?.name;
}

export interface ShownTag {
  tag: string;
  /** What has been asked for it and is not answered yet. */
  pending: 'add' | 'remove' | null;
}

/** Returns the tags of a device and what becomes of each of them. */
export function shownTags({ device_id, tags = [] }: Pick<Device, 'device_id' | 'tags'>): ShownTag[] {
  const shown = new Map<string, ShownTag>(tags.map((tag) => [tag, { tag, pending: null }]));
  for (const { add_tags = [], remove_tags = [] } of pending.of(device_id)) {
    for (const tag of add_tags) if (!tags.includes(tag)) shown.set(tag, { tag, pending: 'add' });
    for (const tag of remove_tags) if (tags.includes(tag)) shown.set(tag, { tag, pending: 'remove' });
  }
  return [...shown.values()];
}
