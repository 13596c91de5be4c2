// Draws or announces a changing state only once it has lasted.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

/** How often words may change by themselves, in milliseconds: a screen reader speaks each change. */
const CALM = 5_000;

/** Tells whether a condition has held for so many milliseconds. One that holds at first counts at once. */
export function useLasting(holds: boolean, milliseconds: number): boolean {
  const lasted = useSignal(holds);
  useEffect(() => {
    if (!holds) lasted.value = false;
    if (!holds || lasted.peek()) return undefined;
    const timer = setTimeout(() => (lasted.value = true), milliseconds);
    return () => clearTimeout(timer);
  }, [holds, milliseconds]);
  return holds && lasted.value;
}

/** Returns words that change at once with what the person has asked for, and by themselves only now and then. */
export function useCalm(words: string, asked: string): string {
  const said = useRef({ words, asked, at: -Infinity });
  const due = useSignal(0);
  void due.value;
  const now = performance.now();
  if (asked !== said.current.asked || (words !== said.current.words && now - said.current.at >= CALM)) {
    said.current = { words, asked, at: now };
  }
  useEffect(() => {
    if (words === said.current.words) return undefined;
    const timer = setTimeout(() => (due.value += 1), CALM - (performance.now() - said.current.at));
    return () => clearTimeout(timer);
  }, [words, asked, due.value]);
  return said.current.words;
}
