// The keys that a page has made, by id in the address: after a reload the devices that come with them still appear.

import type { Key } from '../../data/types';
import { change, query } from '../../ui/router';

/** Addresses stay short: the newest keys are kept. */
const MOST = 20;

/** Returns the ids of the keys that this page has made, newest first. */
export function madeKeys(): readonly string[] {
  const ids = query.value.get('made')?.split(',') ?? [];
  return [...new Set(ids)].filter((id) => id !== '').slice(0, MOST);
}

/** Keeps the id of a key that was made. */
export function keepMade({ key_id: id }: Key): void {
  const kept = [id, ...madeKeys()].slice(0, MOST);
  change({ made: kept.join(',') }, { replace: true });
}
