// What can be acted on: the models of a device have no controls while it updates.

import { stateOf } from './selection';
import { devices } from './store';

/** Returns those whose device is not updating. */
export function controllable<T extends { device_id: string }>(all: readonly T[]): T[] {
  return all.filter(({ device_id }) => {
    const device = devices.row(device_id)?.peek();
    return !device || stateOf(device) !== 'updating';
  });
}
