// Usage over time by model, device or tag, or of everything. The backend makes the groups, their spans and their percentiles.
// Groups of tags overlap, so what holds for all is asked for apart. Below the two requests, everything is pure.

import { Unreadable } from './problem';
import type { UsageFigures, UsageGroup, UsageGroups } from './types';
import { usageGroups } from './usage_page';

export const PERIODS = ['today', 'day', 'week', 'month', 'quarter'] as const;
export type Period = (typeof PERIODS)[number];
export const GROUPINGS = ['model', 'device', 'tag', 'none'] as const satisfies readonly UsageGroups['group_by'][];
export type Grouping = (typeof GROUPINGS)[number];
export type Bucket = UsageGroups['bucket'];
/** The spans that a period may have, the usual one first. */
export const BUCKETS: Record<Period, readonly Bucket[]> = {
  today: ['hour'], day: ['hour'], week: ['day', 'hour'], month: ['day'], quarter: ['day'],
};
export const MEASURES = [
  'tokens', 'inferences', 'audio', 'images', 'first_token_p50', 'first_token_p95', 'token_rate_p50', 'token_rate_p95',
] as const;
export type Measure = (typeof MEASURES)[number];
type Percentile = Extract<Measure, `${string}_p50` | `${string}_p95`>;

export interface Question {
  period: Period;
  by: Grouping;
  bucket: Bucket;
}

export interface Usage {
  /** The groups, and the answer that says of which period they are. */
  answer: UsageGroups;
  all: UsageGroup;
}

/** One part of a chart: a group, or `null` for all that have none of their own. */
export interface Part {
  group: UsageGroup | null;
  /** One for each span. `null` where nothing was measured. */
  values: (number | null)[];
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const LENGTHS: Record<Bucket, number> = { hour: HOUR, day: DAY };
const DAYS: Record<Exclude<Period, 'today'>, number> = { day: 1, week: 7, month: 30, quarter: 90 };

/** Loads the usage of a period that ends now. */
export async function loadUsage({ period, by, bucket }: Question, now: number, signal: AbortSignal): Promise<Usage> {
  const query = { bucket, ...spansOf(period, bucket, now) };
  const whole = usageGroups({ ...query, group_by: 'none' }, signal);
  const [answer, { groups }] = await Promise.all([by === 'none' ? whole : usageGroups({ ...query, group_by: by }, signal), whole]);
  const [all] = groups;
  if (!all) throw new Unreadable('no group of all usage');
  return { answer, all };
}

/** The requests to each model in a period, and the most that an unnamed model can have. */
export interface ModelUse {
  requests: ReadonlyMap<string, number>;
  /** Only the most used models are named: any other one has at most this many requests. */
  atMost: number;
}

/** Loads how much each model was used in the last 30 days. */
export async function loadModelUse(now: number, signal: AbortSignal): Promise<ModelUse> {
  const { groups, others } = await usageGroups({ group_by: 'model', bucket: 'day', ...spansOf('month', 'day', now) }, signal);
  const requests = new Map(groups.flatMap(({ key, total }) => (key ? [[key, total.inferences] as const] : [])));
  const fewest = Math.min(...groups.map(({ total }) => total.inferences));
  return { requests, atMost: others ? Math.min(fewest, others.total.inferences) : 0 };
}

/** Returns the whole hours or days of a period, in UTC as the backend's. The newest contains `now`. Today begins at midnight. */
export function spansOf(period: Period, bucket: Bucket, now: number): { from: string; to: string } {
  const length = LENGTHS[bucket];
  const to = Math.floor(now / length) * length + length;
  const from = period === 'today' ? Math.floor(now / DAY) * DAY : to - DAYS[period] * DAY;
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

/** Returns one number of some figures: audio in whole seconds, a percentile, or `null` if nothing was measured. */
export function valueOf(figures: UsageFigures, measure: Measure): number | null {
  switch (measure) {
    case 'tokens':
      return figures.prompt_tokens + figures.completion_tokens;
    case 'inferences':
      return figures.inferences;
    case 'audio':
      return Math.round(figures.audio_ms / 1000);
    case 'images':
      return figures.images;
    case 'first_token_p50':
      return figures.first_token_ms.p50 ?? null;
    case 'first_token_p95':
      return figures.first_token_ms.p95 ?? null;
    case 'token_rate_p50':
      return figures.token_rate.p50 ?? null;
    case 'token_rate_p95':
      return figures.token_rate.p95 ?? null;
  }
}

/** Tells whether a measure is a percentile: percentiles cannot be added up. */
export function isPercentile(measure: Measure): measure is Percentile {
  return measure.endsWith('_p50') || measure.endsWith('_p95');
}

/** Tells whether less is slower. */
export function isRate(measure: Measure): boolean {
  return measure.startsWith('token_rate');
}

/** Returns the bound that every value of the last class of a histogram exceeds; percentiles in that class are only a bound. */
export function lastBound({ first_token_bounds_ms: times, token_rate_bounds: rates }: UsageGroups, measure: Measure): number | null {
  return isPercentile(measure) ? ((isRate(measure) ? rates : times).at(-1) ?? null) : null;
}

/**
 * Returns the parts of a chart: the groups with the most of a measure, and one part for all others. Percentiles cannot be
 * added up, so for these only the groups with the most inferences are returned.
 */
export function partsOf({ answer: { groups, others } }: Usage, measure: Measure, most: number): Part[] {
  const part = (group: UsageGroup): Part => ({ group, values: group.buckets.map((figures) => valueOf(figures, measure)) });
  if (isPercentile(measure)) return groups.filter(({ total }) => valueOf(total, measure) !== null).slice(0, most).map(part);
  const amount = ({ total }: UsageGroup): number => valueOf(total, measure) ?? 0;
  const some = groups.filter((group) => amount(group) > 0).sort((a, b) => amount(b) - amount(a));
  const left = [...some.slice(most), ...(others && amount(others) > 0 ? [others] : [])];
  const [first] = left;
  const shown = some.slice(0, most).map(part);
  if (!first) return shown;
  const at = ({ buckets }: UsageGroup, place: number): number => {
    const figures = buckets[place];
    return figures ? (valueOf(figures, measure) ?? 0) : 0;
  };
  const values = first.buckets.map((_, place) => left.reduce((sum, group) => sum + at(group, place), 0));
  return [...shown, { group: null, values }];
}
