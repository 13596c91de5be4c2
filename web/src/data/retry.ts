// When a request that has failed is worth repeating, and after which pause.

import { Problem, Unreachable, Unreadable } from './problem';

const SHORTEST = 2_000;
const LONGEST = 60_000;

/** Tells whether a failure passes by itself: nobody answers, or the backend has too much to do. */
export function passes(error: unknown): boolean {
  if (error instanceof Problem) return error.status === 429 || error.status >= 500;
  return error instanceof Unreachable || error instanceof Unreadable;
}

/** Returns the pause after failure `count`, in milliseconds: it doubles, and is never shorter than `Retry-After`. */
export function pauseAfter(count: number, error: unknown): number {
  const asked = error instanceof Problem ? (error.retryAfter ?? 0) * 1_000 : 0;
  const usual = Math.min(SHORTEST * 2 ** (count - 1), LONGEST);
  return Math.max(asked, usual) * (1 + Math.random() / 4);
}
