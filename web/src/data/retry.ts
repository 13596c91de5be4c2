// When a request that has failed is worth repeating, and after which pause.

import { signal } from '@preact/signals';

import { Problem, Unreachable, Unreadable } from './problem';

const SHORTEST = 2_000;
const LONGEST = 60_000;

/** Whether the backend is tried again before anything can be shown. */
export const retrying = signal(false);

/** Repeats a step whose failure passes. Returns nothing once it is no longer `wanted`. */
export async function persist<T>(step: () => Promise<T>, wanted: () => boolean): Promise<T | null> {
  for (let failures = 1; ; failures += 1) {
    try {
      const result = await step();
      retrying.value = false;
      return wanted() ? result : null;
    } catch (error) {
      if (!wanted()) return null;
      retrying.value = passes(error);
      if (!passes(error)) throw error;
      await sleep(pauseAfter(failures, error));
      if (!wanted()) return null;
    }
  }
}

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

/** Waits, but not beyond the moment in which the network is back. */
export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      removeEventListener('online', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    addEventListener('online', done);
  });
}
