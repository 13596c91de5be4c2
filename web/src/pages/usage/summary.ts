// What a chart of usage says, in a sentence. Pure.

import { valueOf, type Measure, type Usage, type UsageGroup } from '../../data/usage';
import { text } from '../../text/en';
import { visible } from '../../ui/parts';

const HOUR = new Intl.DateTimeFormat('en', { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
/** Days are days in UTC, as the backend sums them. */
const DAY = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' });

export function summaryOf(usage: Usage, measure: Measure, top: UsageGroup | undefined, nameOf: (group: UsageGroup) => string): string {
  const total = valueOf(usage.total, measure);
  const share = top && total > 0 ? Math.round((valueOf(top.total, measure) / total) * 100) : 0;
  const sums = usage.begins.map((_, place) => usage.groups.reduce((sum, { spans }) => sum + valueOf(spans[place] ?? usage.total, measure), 0));
  const peak = sums.indexOf(Math.max(...sums));
  const name = top && usage.groups.length > 1 ? visible(nameOf(top)).slice(0, 80) : null;
  return text.usage.summary(text.usage.measures[measure], total.toLocaleString('en'), name, share, peak < 0 ? null : spanWords(usage, peak));
}

/** Returns the beginning of a span: an hour by the reader's clock, a day in UTC. */
export function spanWords({ bucket, begins }: Usage, place: number): string {
  return (bucket === 'hour' ? HOUR : DAY).format(new Date(begins[place] ?? 0));
}
