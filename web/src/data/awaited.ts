// Waits for the end of work that continues without this page: by events, and by a request where events may have been missed.

import { type Follower, followers } from './followers';
import { pause, PersonLeft, staying } from './person';
import { passes, pauseAfter } from './retry';

/** How many requests in a row may fail before the wait fails: six minutes, far longer than a restart of the backend. */
const MOST_FAILURES = 9;

interface Work<T> {
  /** The kind of the events about it. */
  kind: string;
  id: string;
  look: () => Promise<T>;
  hasEnded: (latest: T) => boolean;
  /** Called with what becomes known of it before it has ended. */
  heard?: ((latest: T) => void) | undefined;
}

/** Resolves when the work has ended. Does not poll: the work may wait a day for an offline device. */
export function untilEnded<T>(first: T, { kind, id, look, hasEnded, heard }: Work<T>): Promise<T> {
  if (hasEnded(first)) return Promise.resolve(first);
  const here = staying();
  return new Promise((resolve, reject) => {
    const waits = (): boolean => followers.has(follower);
    const settle = (how: () => void): void => {
      if (!followers.delete(follower)) return;
      here.removeEventListener('abort', left);
      how();
    };
    const left = (): void => settle(() => reject(new PersonLeft()));
    const hear = (latest: T): void => {
      if (hasEnded(latest)) settle(() => resolve(latest));
      else heard?.(latest);
    };
    let looking = false;
    let again = false;
    const lookAgain = async (): Promise<void> => {
      again = true;
      if (looking) return;
      looking = true;
      while (again && waits()) {
        again = false;
        try {
          hear(await patiently(look, waits));
        } catch (error) {
          // The work goes on without a backend that answers, and its stream tells when that is back.
          if (!passes(error)) settle(() => reject(error as Error));
        }
      }
      looking = false;
    };
    const follower: Follower = {
      changed: ({ kind: changed, id: which, item }) => {
        if (changed !== kind || which !== id) return;
        if (item === null) void lookAgain();
        else hear(item as T);
      },
      reload: () => void lookAgain(),
      // What the pages show is forgotten for another role too. The wait ends with the person.
      clear: () => undefined,
    };
    followers.add(follower);
    here.addEventListener('abort', left);
    // It may have ended before its follower was there.
    void lookAgain();
  });
}

/** Repeats a request after a temporary failure while the answer is still `wanted`, so a restart of the backend does not end a wait. */
export async function patiently<T>(question: () => Promise<T>, wanted: () => boolean = () => true): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await question();
    } catch (error) {
      if (!passes(error) || failures > MOST_FAILURES) throw error;
      await pause(pauseAfter(failures, error));
      if (!wanted()) throw error;
    }
  }
}
