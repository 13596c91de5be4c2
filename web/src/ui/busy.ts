// One thing at a time: while it runs, a second click does nothing.

import { useSignal, type Signal } from '@preact/signals';

import { noteRefusal } from '../data/permission';
import { wordsOf } from '../data/problem';

export interface Attempt {
  busy: Signal<boolean>;
  /** Why the last attempt failed, in the backend's words. */
  fault: Signal<string>;
  /** Runs `work` unless it runs already, and returns whether it succeeded. */
  run: (work: () => Promise<void>) => Promise<boolean>;
}

export function useAttempt(): Attempt {
  const busy = useSignal(false);
  const fault = useSignal('');
  const run = async (work: () => Promise<void>): Promise<boolean> => {
    if (busy.peek()) return false;
    busy.value = true;
    fault.value = '';
    try {
      await work();
      return true;
    } catch (error) {
      noteRefusal(error);
      fault.value = wordsOf(error);
      return false;
    } finally {
      busy.value = false;
    }
  };
  return { busy, fault, run };
}
