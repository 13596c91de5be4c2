// Does something to many things one after the other, where the backend has no operation for it: with progress, until its dialog is
// closed.

import { useSignal, type ReadonlySignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { noteRefusal } from '../data/permission';
import { PersonLeft } from '../data/person';
import { messageOf } from '../data/problem';
import { text } from '../text';
import { sentence } from '../text/visible';
import { useCalm } from './lasting';

export interface End {
  done: number;
  failed: number;
  /** Why the last one failed. */
  why: string;
  /** How many were left as they are, because the dialog was closed. */
  left: number;
  /** Whether the dialog was closed before the end. */
  closed: boolean;
}

interface OneByOne {
  /** How many have been tried; nothing before it begins. */
  tried: ReadonlySignal<number | null>;
  /** Begins; a second call does nothing. */
  run: () => void;
}

export function useOneByOne<T>(things: readonly T[], step: (thing: T) => Promise<unknown>, ended: (end: End) => void): OneByOne {
  const tried = useSignal<number | null>(null);
  const open = useRef(true);
  useEffect(() => () => void (open.current = false), []);
  const run = async (): Promise<void> => {
    if (tried.peek() !== null) return;
    const end: End = { done: 0, failed: 0, why: '', left: 0, closed: false };
    for (const [place, thing] of things.entries()) {
      tried.value = place;
      if (!open.current) {
        end.left = things.length - place;
        break;
      }
      try {
        await step(thing);
        end.done += 1;
      } catch (error) {
        if (error instanceof PersonLeft) return;
        noteRefusal(error);
        end.failed += 1;
        end.why = sentence(messageOf(error));
      }
    }
    end.closed = !open.current;
    ended(end);
  };
  return { tried, run: () => void run() };
}

/** How far the work is. */
export function Progress({ tried, all }: { tried: ReadonlySignal<number | null>; all: number }) {
  const said = useCalm(tried.value === null ? '' : text.many.progress(tried.value, all), String(tried.value === null));
  return <p role="status">{said}</p>;
}
