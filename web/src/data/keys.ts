// What a key is good for at a moment. Pure.

import type { Key } from './types';

/** The words of `link key list`, with those apart that end within a week. */
export type KeyState = 'valid' | 'soon' | 'used' | 'expired' | 'revoked';

/** How long before its end a key ends soon, in milliseconds. */
export const SOON = 7 * 86_400_000;

export function keyState(key: Key, now: number): KeyState {
  if (key.revoked) return 'revoked';
  const end = key.expires_at ? Date.parse(key.expires_at) : Infinity;
  if (end <= now) return 'expired';
  const most = mostDevices(key);
  if (most !== null && key.devices >= most) return 'used';
  return end - now <= SOON ? 'soon' : 'valid';
}

/** Returns how many devices a key registers at most, if it has a limit of its own. */
export function mostDevices(key: Key): number | null {
  return key.kind === 'registration' ? 1 : (key.max_devices ?? null);
}

/** Tells whether a device can still register with a key. */
export function isValid(key: Key, now: number): boolean {
  const state = keyState(key, now);
  return state === 'valid' || state === 'soon';
}

/** Orders keys: those that can be used before those that cannot, and those that end first at the top. */
export function keyOrder(now: number): (a: Key, b: Key) => number {
  const end = ({ expires_at }: Key): number => (expires_at ? Date.parse(expires_at) : Number.MAX_SAFE_INTEGER);
  return (a, b) => {
    const [left, right] = [isValid(a, now), isValid(b, now)];
    if (left !== right) return left ? -1 : 1;
    if (left && end(a) !== end(b)) return end(a) - end(b);
    return Date.parse(b.created_at) - Date.parse(a.created_at);
  };
}

/** Reads tags that are separated by commas. */
export function tagsOf(words: string): string[] {
  return [...new Set(words.split(',').map((tag) => tag.trim()).filter(Boolean))];
}
