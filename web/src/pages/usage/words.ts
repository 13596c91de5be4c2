// What groups, spans and numbers of usage are called, and what a chart of them says in a sentence. Pure.

import { isPercentile, isRate, lastBound, valueOf, type Measure, type Part, type Usage } from '../../data/usage';
import type { UsageFigures, UsageGroup, UsageGroups } from '../../data/types';
import { language, locale, text } from '../../text';
import { brief } from '../../text/visible';

const HOUR = new Intl.DateTimeFormat(locale, { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
/** Days are days in UTC, as the backend sums them. */
const DAY = new Intl.DateTimeFormat(locale, { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' });
/** The most characters of a name in a sentence or above a column. */
const SHORT = 60;

/** Returns what a group is called. The id of what was removed still tells it apart. */
export function groupWords(group: UsageGroup | null, by: UsageGroups['group_by']): string {
  if (group === null) return text.usage.others;
  const { name, key } = group;
  switch (by) {
    case 'none':
      return text.usage.all;
    case 'tag':
      return key ?? text.usage.untagged;
    case 'model':
      return name ?? text.usage.removedModel(shortened(key ?? ''));
    case 'device':
      return name ?? text.usage.removedDevice(shortened(key ?? ''));
  }
}

/** Returns a name as a part of other words: its beginning, with a sign for each character that cannot be seen. */
export function short(name: string): string {
  return brief(name, SHORT);
}

/** Returns the beginning of a span: an hour by the reader's clock, a day in UTC. */
export function spanWords(begin: string, bucket: UsageGroups['bucket']): string {
  return (bucket === 'hour' ? HOUR : DAY).format(new Date(begin));
}

/** Returns a count, or a percentile with its unit. A percentile in the last class of a histogram is only a bound. */
export function amountWords(value: number | null, measure: Measure, bound: number | null): string {
  if (value === null) return text.usage.unknown;
  if (!isPercentile(measure)) return value.toLocaleString(language);
  const words = isRate(measure) ? text.usage.rate(value) : text.usage.milliseconds(value);
  return bound !== null && value >= bound ? text.usage.overBound(words) : words;
}

/** Returns one number of some figures in words. */
export function figureWords(figures: UsageFigures, measure: Measure, answer: UsageGroups): string {
  return amountWords(valueOf(figures, measure), measure, lastBound(answer, measure));
}

/** Returns what a chart says. */
export function summaryOf(usage: Usage, measure: Measure, parts: readonly Part[]): string {
  const { answer, all } = usage;
  const name = text.usage.measures[measure];
  const words = figureWords(all.total, measure, answer);
  const values = all.buckets.map((figures) => valueOf(figures, measure));
  const foremost = isRate(measure) ? lowest : highest;
  const begin = all.buckets[values.indexOf(foremost(values))]?.begin;
  const span = begin === undefined ? null : text.usage.spans[answer.bucket](spanWords(begin, answer.bucket));
  if (isPercentile(measure)) {
    // The chart shows some groups. The slowest of all may be another one.
    const totals = answer.groups.map(({ total }) => valueOf(total, measure));
    const slowest = answer.groups.length > 1 ? answer.groups[totals.indexOf(foremost(totals))] : undefined;
    const value = slowest ? figureWords(slowest.total, measure, answer) : '';
    return text.usage.slowSummary(name, words, slowest ? short(groupWords(slowest, answer.group_by)) : null, value, span);
  }
  const top = parts[0]?.group;
  const total = valueOf(all.total, measure) ?? 0;
  const share = top && total > 0 ? Math.round(((valueOf(top.total, measure) ?? 0) / total) * 100) : 0;
  return text.usage.summary(name, words, top && parts.length > 1 ? short(groupWords(top, answer.group_by)) : null, share, span);
}

function highest(values: readonly (number | null)[]): number | null {
  return values.reduce((most, value) => (most === null || (value !== null && value > most) ? value : most), null);
}

function lowest(values: readonly (number | null)[]): number | null {
  return values.reduce((least, value) => (least === null || (value !== null && value < least) ? value : least), null);
}

/** Returns the end of an id, by which it differs from others. */
function shortened(id: string): string {
  return id.length > 12 ? `…${id.slice(-8)}` : id;
}
