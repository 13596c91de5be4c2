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

/** Returns how many models on a device `controllable` leaves out. What concerns the same model on the same device counts once. */
export function leftOut(all: readonly { model_id?: string | null; device_id: string }[]): number {
  const taken = new Set<unknown>(controllable(all));
  return new Set(all.flatMap((one) => (taken.has(one) ? [] : [`${one.model_id} ${one.device_id}`]))).size;
}
