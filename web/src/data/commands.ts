// What is said of a command wherever one is awaited. Pure.

import type { Command } from './types';

/** Tells whether a command has its result, or never gets one. */
export function hasEnded({ result, state }: Command): boolean {
  return Boolean(result) || state === 'expired';
}
