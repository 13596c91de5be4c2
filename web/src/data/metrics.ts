// The load of a device over a period that ends now. Steps without a sample are not in the answer: where the device was
// away, a line has a gap. Apart from `loadMetrics`, everything is pure.

import { ask, GET } from './client';
import type { DeviceMetrics, MetricPoint } from './types';

export const PERIODS = ['1h', '24h', '7d', '30d'] as const satisfies readonly DeviceMetrics['period'][];
export type Period = (typeof PERIODS)[number];
export const READINGS = [
  'cpu_percent', 'memory_used_bytes', 'disk_used_bytes', 'gpu_percent', 'gpu_memory_used_bytes', 'temperature_celsius',
  'gpu_temperature_celsius',
] as const satisfies readonly (keyof MetricPoint)[];
export type Reading = (typeof READINGS)[number];

/** The unit of a reading. */
export const UNITS: Record<Reading, 'percent' | 'bytes' | 'celsius'> = {
  cpu_percent: 'percent',
  memory_used_bytes: 'bytes',
  disk_used_bytes: 'bytes',
  gpu_percent: 'percent',
  gpu_memory_used_bytes: 'bytes',
  temperature_celsius: 'celsius',
  gpu_temperature_celsius: 'celsius',
};

/** One step of a reading. Without values, it is the beginning of a gap. */
export interface Step {
  /** In milliseconds. */
  at: number;
  values: { min: number; avg: number; max: number } | null;
}

export interface Figures {
  average: number;
  most: number;
  /** The beginning of the step with the highest value, in milliseconds. */
  mostAt: number;
  /** The average of the last step, and its beginning in milliseconds. */
  newest: number;
  newestAt: number;
  /** Whether the device is still sending samples at the end of the period. */
  isNow: boolean;
}

/** A device sends a sample a minute. After this time without one, it was away. */
const LONGEST_PAUSE = 150_000;

/** Loads the load of a device over a period. */
export function loadMetrics(deviceId: string, period: Period, signal: AbortSignal): Promise<DeviceMetrics> {
  return ask(GET('/api/v1/devices/{device_id}/metrics', { params: { path: { device_id: deviceId }, query: { period } }, signal }));
}

/** Returns the steps of a reading, oldest first, with an empty step at the beginning of each gap. */
export function stepsOf(metrics: DeviceMetrics, reading: Reading): Step[] {
  const length = metrics.step_seconds * 1000;
  const longest = longestPause(metrics);
  const steps: Step[] = [];
  let before: number | null = null;
  for (const point of metrics.points) {
    const at = Date.parse(point.at);
    if (before !== null && at - before > longest) steps.push({ at: before + length, values: null });
    steps.push({ at, values: point[reading] ?? null });
    before = at;
  }
  return steps;
}

/** Returns the average over all samples, the highest value and the newest one, or nothing if the device does not measure the reading. */
export function figuresOf(metrics: DeviceMetrics, reading: Reading): Figures | null {
  let [sum, samples] = [0, 0];
  let highest: { max: number; at: string } | null = null;
  let [newest, newestAt] = [0, 0];
  for (const point of metrics.points) {
    const values = point[reading];
    if (!values) continue;
    sum += values.avg * point.samples;
    samples += point.samples;
    [newest, newestAt] = [values.avg, Date.parse(point.at)];
    if (highest === null || values.max > highest.max) highest = { max: values.max, at: point.at };
  }
  if (highest === null || samples === 0) return null;
  const isNow = Date.parse(metrics.to) - newestAt <= longestPause(metrics);
  return { average: sum / samples, most: highest.max, mostAt: Date.parse(highest.at), newest, newestAt, isNow };
}

/** Returns the size to which used bytes compare, if the device has reported it. */
export function sizeOf(metrics: DeviceMetrics, reading: Reading): number | null {
  if (reading === 'memory_used_bytes') return metrics.memory_total_bytes ?? null;
  if (reading === 'disk_used_bytes') return metrics.disk_total_bytes ?? null;
  if (reading === 'gpu_memory_used_bytes') return metrics.gpu_memory_total_bytes ?? null;
  return null;
}

/** Returns how much of the period has no samples, in milliseconds, its beginning and its end included. */
export function awayFor(metrics: DeviceMetrics): number {
  const length = metrics.step_seconds * 1000;
  const longest = longestPause(metrics);
  let away = 0;
  let end = Date.parse(metrics.from);
  const pause = (until: number): void => {
    if (until - end > longest - length) away += until - end;
  };
  for (const { at } of metrics.points) {
    pause(Date.parse(at));
    end = Date.parse(at) + length;
  }
  pause(Date.parse(metrics.to));
  return away;
}

/** Returns the longest time between the beginnings of two steps that does not count as a gap. */
function longestPause({ step_seconds }: DeviceMetrics): number {
  return Math.max(step_seconds * 1_500, LONGEST_PAUSE);
}
