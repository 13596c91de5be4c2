// A document that a page asks for by itself, with no events: loaded when the question changes, on request, and at an
// interval if its page is to stay live. Answers to older questions are dropped.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import type { Loading } from '../data/store';
import { whileVisible } from '../data/visible';

export interface Loaded<T> {
  /** The answer to the present question. */
  value: T | null;
  loading: Loading;
  again: () => void;
}

interface Options {
  /** Nothing is asked before. */
  ready?: boolean;
  /** How often the document is loaded anew while the page is in sight, in milliseconds. */
  every?: number | null;
}

/** Loads the answer to `question`, a text that differs for each document. */
export function useLoaded<T>(question: string, load: (signal: AbortSignal) => Promise<T>, { ready = true, every = null }: Options = {}): Loaded<T> {
  const found = useSignal<{ question: string; value: T } | null>(null);
  const loading = useSignal<Loading>({ state: 'idle', error: null });
  const attempt = useSignal(0);
  useEffect(() => {
    if (!ready) return undefined;
    const gone = new AbortController();
    loading.value = { state: found.peek()?.question === question ? 'refreshing' : 'loading', error: null };
    // A load at an interval changes nothing before it ends: otherwise a failure would be announced each time.
    const once = async (signal: AbortSignal): Promise<void> => {
      try {
        const value = await load(signal);
        if (signal.aborted) return;
        found.value = { question, value };
        loading.value = { state: 'ready', error: null };
      } catch (error) {
        if (!signal.aborted) loading.value = { state: 'failed', error };
      }
    };
    if (every === null) void once(gone.signal);
    else whileVisible(gone.signal, (visible) => repeated(once, every, visible));
    return () => gone.abort();
  }, [question, ready, every, attempt.value]);
  return {
    value: found.value?.question === question ? found.value.value : null,
    loading: loading.value,
    again: () => {
      attempt.value += 1;
    },
  };
}

/** Runs `once` now and at each interval until `signal` is aborted. An interval that begins before the run ends is skipped. */
function repeated(once: (signal: AbortSignal) => Promise<void>, every: number, signal: AbortSignal): void {
  let running = false;
  const run = async (): Promise<void> => {
    if (running) return;
    running = true;
    await once(signal);
    running = false;
  };
  const timer = setInterval(() => void run(), every);
  signal.addEventListener('abort', () => clearInterval(timer));
  void run();
}
