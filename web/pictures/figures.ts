// The figures over time of the made-up account: the load of a device, and usage in groups.

import type { DeviceMetrics, UsageFigures, UsageGroup, UsageGroups } from '../src/data/types.ts';
import { COMPLETION, inferencesIn, noise, NOW, PROMPT, type World } from './world.ts';

const GB = 1e9;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FIRST_TOKEN = [50, 100, 200, 400, 800, 1_600];
const RATES = [5, 10, 20, 40, 80];

/** The load over a period. A device of the failing account was away for a quarter of it. */
export function metricsOf(world: World, period: DeviceMetrics['period']): DeviceMetrics {
  const [length, step] = ({ '1h': [3_600, 10], '24h': [86_400, 300], '7d': [604_800, 1_800], '30d': [2_592_000, 7_200] } as const)[period];
  const points = world.name === 'empty' ? [] : Array.from({ length: Math.floor(length / step) }, (_, at) => at);
  const away = (at: number): boolean => world.name === 'failing' && at > points.length / 2 && at < (points.length * 3) / 4;
  const range = (middle: number, width: number, at: number) => {
    const avg = middle + width * Math.sin(at / 30) + width * 0.4 * noise(at);
    return { min: Math.max(0, avg - width / 3), avg, max: avg + width / 2 };
  };
  return {
    period,
    from: new Date(NOW - length * 1_000).toISOString(),
    to: new Date(NOW).toISOString(),
    step_seconds: step,
    memory_total_bytes: 16 * GB,
    disk_total_bytes: 512 * GB,
    gpu_memory_total_bytes: 12 * GB,
    points: points.filter((at) => !away(at)).map((at) => ({
      at: new Date(NOW - (length - at * step) * 1_000).toISOString(),
      samples: 1,
      cpu_percent: range(38, 22, at),
      memory_used_bytes: range(8 * GB, GB, at),
      disk_used_bytes: range(210 * GB + at * 1e7, GB / 2, at),
      gpu_percent: range(41, 30, at + 9),
      gpu_memory_used_bytes: range(5 * GB, GB / 4, at),
      temperature_celsius: range(52, 6, at),
      gpu_temperature_celsius: range(60, 7, at + 9),
    })),
  };
}

/** Usage between two days, in groups. */
export function usageOf(world: World, query: URLSearchParams): UsageGroups {
  const bucket = query.get('bucket') === 'hour' ? 'hour' : 'day';
  const length = bucket === 'hour' ? HOUR : DAY;
  const to = Date.parse(query.get('to') ?? '') || NOW;
  const from = Date.parse(query.get('from') ?? '') || to - 7 * DAY;
  const by = (query.get('group_by') ?? 'model') as UsageGroups['group_by'];
  const names = {
    model: world.models.map(({ model_id, name }) => [model_id, name] as const),
    device: world.devices.slice(0, 9).map(({ device_id, name }) => [device_id, name] as const),
    tag: [['ground-floor', 'ground-floor'], ['night', 'night']] as const,
    none: [[null, null]] as const,
  }[by];
  const begins = Array.from({ length: Math.min(Math.ceil((to - from) / length), 400) }, (_, at) => from + at * length);
  const place = world.models.findIndex(({ model_id: id }) => id === query.get('model_id'));
  const groups = names.map(([key, name], nth): UsageGroup => {
    const counted = (begin: number): number => {
      const all = world.name === 'empty' ? 0 : inferencesIn(begin, length);
      return by === 'none' ? (place < 0 ? all : shareOf(all, place, world.models.length)) : shareOf(all, nth, names.length);
    };
    const buckets = begins.map((begin) => ({ begin: new Date(begin).toISOString(), ...figures(counted(begin)) }));
    return { key, name, total: figures(buckets.reduce((sum, one) => sum + one.inferences, 0)), buckets };
  });
  return {
    group_by: by, bucket, from: new Date(from).toISOString(), to: new Date(to).toISOString(),
    first_token_bounds_ms: FIRST_TOKEN, token_rate_bounds: RATES, groups,
  };
}

/** What one of several has of a whole: each less than the one before it, and the first what the others leave. */
function shareOf(whole: number, place: number, several: number): number {
  const parts = Array.from({ length: several }, (_, at) => 1 / (at + 1));
  const all = parts.reduce((sum, part) => sum + part, 0);
  const shares = parts.map((part) => Math.floor((whole * part) / all));
  return place > 0 ? (shares[place] ?? 0) : whole - shares.slice(1).reduce((sum, share) => sum + share, 0);
}

function figures(all: number): UsageFigures {
  return {
    inferences: all, counted: Math.round(all * 0.97), uncounted: all - Math.round(all * 0.97),
    prompt_tokens: all * PROMPT, completion_tokens: all * COMPLETION, audio_ms: 0, images: 0, duration_ms: all * 4_100,
    first_token_ms: { counts: [0, 3, 9, 4, 1, 0, 0], p50: 180, p95: 640 },
    token_rate: { counts: [0, 1, 6, 9, 2, 0], p50: 24, p95: 41 },
  };
}
