// Lengths of time as people read them.

import { language } from '.';
import { unbroken } from './unbroken';

const UNITS: readonly (readonly [string, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];

/** Returns a length of time in its largest unit, such as `23 hr`. It is rounded down: nothing promises more than there is. */
export function span(milliseconds: number): string {
  const [unit, length] = UNITS.find(([, size]) => milliseconds >= size) ?? ['second', 1_000];
  const form = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'short' });
  return unbroken(form.format(Math.floor(milliseconds / length)));
}
