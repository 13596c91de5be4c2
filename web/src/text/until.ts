// How far away a time in the future is, as people say it.

import { language } from '.';
import { lazily } from './lazily';
import { unbroken } from './unbroken';

const relative = lazily(() => new Intl.RelativeTimeFormat(language, { numeric: 'always', style: 'long' }));
const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** Returns how far away a time is, such as `in 3 days`; less than a minute is `in 1 minute`. */
export function ahead(time: string, now: number): string {
  const left = Math.max(60_000, Date.parse(time) - now);
  const [unit, length] = UNITS.find(([, size]) => left >= size) ?? ['minute', 60_000];
  return unbroken(relative().format(Math.floor(left / length), unit));
}

/** Returns the time that is a number of days after now, as the API takes it. */
export function inDays(days: number, now = Date.now()): string {
  return new Date(now + days * 86_400_000).toISOString();
}
