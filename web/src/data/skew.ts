// How far the clock of this computer is from the backend's. Every time that the pages show is the backend's, so "2 hours ago"
// is told by its clock: on a computer that is two hours off, a device that reports each minute has not been away.

import { signal } from '@preact/signals';

/** Smaller differences come from the network and the whole seconds of the header, in milliseconds. */
const NOTICED = 30_000;

/** The offset of the backend's clock from this computer's, in milliseconds. */
export const skew = signal(0);

/** Learns the difference from the `Date` of an answer. */
export function noteDate(response: Response): void {
  const date = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(date)) return;
  const difference = date - Date.now();
  const changed = Math.abs(difference - skew.peek()) >= NOTICED;
  if (changed) skew.value = Math.abs(difference) >= NOTICED ? difference : 0;
}
