// Usage over time by model, by device or of everything. The pages ask for a grouping and get whole spans for each group;
// the rows that the API lists by device and model are summed here. Apart from `loadUsage`, everything is pure.

import type { UsageRow } from './types';
import { usagePage } from './usage_page';

export const PERIODS = ['day', 'week', 'month', 'quarter'] as const;
export type Period = (typeof PERIODS)[number];
export const GROUPINGS = ['model', 'device', 'none'] as const;
export type Grouping = (typeof GROUPINGS)[number];
export const MEASURES = ['tokens', 'inferences', 'audio', 'images'] as const;
export type Measure = (typeof MEASURES)[number];

/** The sums of some inferences. Units are never added to each other. */
export interface Sums {
  inferences: number;
  uncounted: number;
  promptTokens: number;
  completionTokens: number;
  audioMs: number;
  images: number;
  durationMs: number;
}

export interface UsageGroup {
  /** The id of the model or device; empty if everything is one group. */
  id: string;
  /** One for each span. */
  spans: Sums[];
  total: Sums;
}

export interface Usage {
  bucket: 'hour' | 'day';
  /** The beginnings of the spans, oldest first, without gaps. */
  begins: number[];
  /** Those with the most inferences first. */
  groups: UsageGroup[];
  total: Sums;
  /** If there was more than is loaded: since when everything is. */
  cutAt: number | null;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SPANS: Record<Period, { bucket: 'hour' | 'day'; count: number }> = {
  day: { bucket: 'hour', count: 24 },
  week: { bucket: 'day', count: 7 },
  month: { bucket: 'day', count: 30 },
  quarter: { bucket: 'day', count: 90 },
};
const PAGE = 200;
/** The most pages of a load: 10,000 rows. */
const MOST_PAGES = 50;

/** Loads the usage of a period that ends now. */
export async function loadUsage(period: Period, by: Grouping, now: number, signal: AbortSignal): Promise<Usage> {
  const { bucket } = SPANS[period];
  const begins = beginsOf(period, now);
  const from = new Date(begins[0] ?? now).toISOString();
  const rows: UsageRow[] = [];
  let cursor: { cursor?: string } | null = {};
  let pages = 0;
  while (cursor !== null && pages < MOST_PAGES) {
    const query = { bucket, from, limit: PAGE, ...cursor };
    const page = await usagePage(query, signal);
    rows.push(...page.items);
    cursor = page.next_cursor ? { cursor: page.next_cursor } : null;
    pages += 1;
  }
  return usageOf(rows, bucket, begins, by, cursor !== null);
}

/** Returns the beginnings of the spans of a period, oldest first. Spans are hours and days in UTC, as the backend's. */
export function beginsOf(period: Period, now: number): number[] {
  const { bucket, count } = SPANS[period];
  const length = bucket === 'hour' ? HOUR : DAY;
  const newest = Math.floor(now / length) * length;
  return Array.from({ length: count }, (_, index) => newest - (count - 1 - index) * length);
}

/** Sums rows, newest first, by group and span. If the rows were `cut`, the oldest span that they reach is not whole. */
export function usageOf(rows: readonly UsageRow[], bucket: 'hour' | 'day', begins: readonly number[], by: Grouping, cut: boolean): Usage {
  const oldest = rows.at(-1);
  const cutAt = cut && oldest ? Date.parse(oldest.begin) + (bucket === 'hour' ? HOUR : DAY) : null;
  const kept = begins.filter((begin) => cutAt === null || begin >= cutAt);
  const places = new Map(kept.map((begin, index) => [begin, index]));
  const groups = new Map<string, UsageGroup>();
  const total = nothing();
  for (const row of rows) {
    const place = places.get(Date.parse(row.begin));
    if (place === undefined) continue;
    const id = by === 'none' ? '' : by === 'model' ? row.model_id : row.device_id;
    let group = groups.get(id);
    if (!group) {
      group = { id, spans: kept.map(nothing), total: nothing() };
      groups.set(id, group);
    }
    const span = group.spans[place];
    for (const sums of [span, group.total, total]) if (sums) addTo(sums, row);
  }
  const ordered = [...groups.values()].sort((a, b) => b.total.inferences - a.total.inferences || (a.id < b.id ? -1 : 1));
  return { bucket, begins: kept, groups: ordered, total, cutAt };
}

/** Returns one number of some sums: audio in whole seconds. */
export function valueOf(sums: Sums, measure: Measure): number {
  switch (measure) {
    case 'tokens':
      return sums.promptTokens + sums.completionTokens;
    case 'inferences':
      return sums.inferences;
    case 'audio':
      return Math.round(sums.audioMs / 1000);
    case 'images':
      return sums.images;
  }
}

/** Keeps the groups with the most of a measure, and makes one of the rest. */
export function foremost(groups: readonly UsageGroup[], measure: Measure, most: number): { shown: UsageGroup[]; rest: UsageGroup | null; left: number } {
  const some = groups.filter(({ total }) => valueOf(total, measure) > 0);
  some.sort((a, b) => valueOf(b.total, measure) - valueOf(a.total, measure));
  const shown = some.slice(0, most);
  const left = some.slice(most);
  const first = left[0];
  if (!first) return { shown, rest: null, left: 0 };
  const spans = first.spans.map((_, place) => sumOf(left.map((group) => group.spans[place] ?? nothing())));
  return { shown, rest: { id: '', spans, total: sumOf(left.map(({ total }) => total)) }, left: left.length };
}

function sumOf(all: readonly Sums[]): Sums {
  const sum = nothing();
  for (const one of all) for (const name of Object.keys(sum) as (keyof Sums)[]) sum[name] += one[name];
  return sum;
}

function addTo(sums: Sums, row: UsageRow): void {
  sums.inferences += row.inferences;
  sums.uncounted += row.uncounted;
  sums.promptTokens += row.prompt_tokens;
  sums.completionTokens += row.completion_tokens;
  sums.audioMs += row.audio_ms ?? 0;
  sums.images += row.images ?? 0;
  sums.durationMs += row.duration_ms;
}

function nothing(): Sums {
  return { inferences: 0, uncounted: 0, promptTokens: 0, completionTokens: 0, audioMs: 0, images: 0, durationMs: 0 };
}
