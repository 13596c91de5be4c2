// Numbers and times as people read them.

import { language, locale, text } from '.';
import { lazily } from './lazily';
import { unbroken } from './unbroken';

const relative = lazily(() => new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' }));
const whole = lazily(() => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' }));
const short = lazily(
  () => new Intl.DateTimeFormat(locale, { month: 'short', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }),
);
const near = lazily(() => new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }));
const nearOtherYear = lazily(
  () => new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
);
const far = lazily(() => new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }));
const compact = lazily(() => new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 }));
const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
/** How far away a time is that has no clock time in a list, in milliseconds: half a year. */
const FAR = 182 * 86_400_000;
const SIZES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** Returns how long ago a time was. A time in the future, by a clock that is off, is now. */
export function ago(time: string | null | undefined, now: number): string {
  if (!time) return text.time.never;
  const seconds = Math.max(0, Math.round((now - Date.parse(time)) / 1000));
  const unit = UNITS.find(([, length]) => seconds >= length);
  return unit ? unbroken(relative().format(-Math.round(seconds / unit[1]), unit[0])) : text.time.now;
}

/** Returns a time in the reader's own form. */
export function moment(time: string): string {
  return whole().format(new Date(time));
}

/** Returns the date and the clock time, with the year if that is another one; half a year and more away, the date with its year. */
export function dated(time: string, now: number): string {
  const at = new Date(time);
  if (Math.abs(at.getTime() - now) >= FAR) return far().format(at);
  return (at.getFullYear() === new Date(now).getFullYear() ? near() : nearOtherYear()).format(at);
}

/** Returns a short time for lists of records. */
export function clock(time: string): string {
  return short().format(new Date(time));
}

/** Returns a number of bytes with its unit, such as `1.4 GB`. The two stay on one line. */
export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 999.5 && unit < SIZES.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)}\u00a0${SIZES[unit]}`;
}

/** Returns a large number in short, such as `3.8B`. */
export function shortNumber(value: number): string {
  return compact().format(value);
}

export function percent(value: number): string {
  return `${Math.round(value)}\u00a0%`;
}
