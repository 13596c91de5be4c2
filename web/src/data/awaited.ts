// Waits for the end of work that goes on without this page: an event of the stream tells it, and a look where events may be missed.

import { type Follower, followers } from './followers';
import { pause, PersonLeft } from './person';
import { passes, pauseAfter } from './retry';

/** How often in a row a look may fail before its failure counts: six minutes, far more than a restart of the backend takes. */
const MOST_FAILURES = 9;

interface Work<T> {
  /** The kind of the events about it. */
  kind: string;
  id: string;
  look: () => Promise<T>;
  hasEnded: (latest: T) => boolean;
}

/** Returns the work once it has ended. Nothing is asked while it runs: it may wait a day for a device that is away. */
export function untilEnded<T>(first: T, { kind, id, look, hasEnded }: Work<T>): Promise<T> {
  if (hasEnded(first)) return Promise.resolve(first);
  return new Promise((resolve, reject) => {
    const settle = (how: () => void): void => {
      if (followers.delete(follower)) how();
    };
    const hear = (latest: T): void => {
      if (hasEnded(latest)) settle(() => resolve(latest));
    };
    const lookAgain = (): void => {
      patiently(look).then(hear, (error: unknown) => settle(() => reject(error as Error)));
    };
    const follower: Follower = {
      changed: ({ kind: changed, id: which, item }) => {
        if (changed !== kind || which !== id) return;
        if (item === null) lookAgain();
        else hear(item as T);
      },
      reload: lookAgain,
      clear: () => settle(() => reject(new PersonLeft())),
    };
    followers.add(follower);
    // It may have ended before its follower was there.
    lookAgain();
  });
}

/** Repeats a question while its failure passes: a backend that restarts ends no wait, since the work goes on. */
export async function patiently<T>(question: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await question();
    } catch (error) {
      if (!passes(error) || failures > MOST_FAILURES) throw error;
      await pause(pauseAfter(failures, error));
    }
  }
}
