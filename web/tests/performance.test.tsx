// The load of a device: gaps are gaps, averages are of samples, the period is in the address, and only the last hour is
// loaded again by itself, while somebody looks.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { awayFor, figuresOf, READINGS, stepsOf } from '../src/data/metrics';
import { devices } from '../src/data/store';
import type { DeviceMetrics, MetricPoint } from '../src/data/types';
import { DevicePage } from '../src/pages/device/page';
import { go, listen } from '../src/ui/router';
import { backend, type Asked, type Backend } from './backend';
import { device, HOSTILE } from './fixtures';
import { accessible, blank, press, says, show } from './page';
import { spaced } from './spaced';

const BEGIN = Date.parse('2026-11-20T10:00:00Z');
const MINUTE = 60_000;
const range = (value: number) => ({ min: value - 1, avg: value, max: value + 10 });

function point(minute: number, more: Partial<MetricPoint> = {}): MetricPoint {
  return { at: new Date(BEGIN + minute * MINUTE).toISOString(), samples: 1, cpu_percent: range(20), ...more };
}

function metrics(points: MetricPoint[], more: Partial<DeviceMetrics> = {}): DeviceMetrics {
  return { period: '1h', from: new Date(BEGIN).toISOString(), to: new Date(BEGIN + 60 * MINUTE).toISOString(), step_seconds: 10, points, ...more };
}

/** A point a minute through the whole hour. */
const whole = (): MetricPoint[] => Array.from({ length: 60 }, (_, minute) => point(minute));

describe('the load of a device', () => {
  it('has a gap where the device was away, and none between two samples', () => {
    const steps = stepsOf(metrics([point(0), point(1), point(10)]), 'cpu_percent');
    expect(steps.map(({ at, values }) => [(at - BEGIN) / 1000, values?.avg ?? null])).toEqual([[0, 20], [60, 20], [70, null], [600, 20]]);
  });

  it('has a gap where one step of a longer period is missing', () => {
    const days = metrics([point(0), point(90), point(270)], { period: '30d', step_seconds: 5_400 });
    expect(stepsOf(days, 'cpu_percent').map(({ at, values }) => [(at - BEGIN) / MINUTE, values !== null])).toEqual([[0, true], [90, true], [180, false], [270, true]]);
  });

  it('has a gap in one reading where only that reading is missing', () => {
    const steps = stepsOf(metrics([point(0), point(1, { cpu_percent: null }), point(2)]), 'cpu_percent');
    expect(steps.map(({ values }) => values !== null)).toEqual([true, false, true]);
  });

  it('is averaged over samples and not over steps', () => {
    const loads = metrics([point(0, { samples: 3, cpu_percent: range(10) }), point(1, { cpu_percent: range(50) })]);
    expect(figuresOf(loads, 'cpu_percent')).toEqual({ average: 20, most: 60, mostAt: BEGIN + MINUTE, newest: 50, newestAt: BEGIN + MINUTE, isNow: false });
    expect(figuresOf(loads, 'gpu_percent')).toBeNull();
  });

  it('says for how long there were no samples, the begin and the end of the period included', () => {
    expect(awayFor(metrics(whole()))).toBe(0);
    expect(awayFor(metrics([point(20), point(21)]))).toBe(20 * MINUTE + 39 * MINUTE - 10_000);
  });
});

describe('the tab of the load', () => {
  let root: HTMLElement;
  let served: Backend;
  const clock = (time: number): string => new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(time);
  const asked = (): (string | null)[] => served.to('/devices/dev_a/metrics').map(({ query }) => query.get('period'));

  function answers(document: DeviceMetrics): void {
    served.answers['/devices/dev_a/metrics'] = ({ query }: Asked) => [200, { ...document, period: query.get('period') }];
  }

  function visible(state: DocumentVisibilityState): void {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
    document.dispatchEvent(new Event('visibilitychange'));
  }

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    served = backend();
    root = blank('viewer');
    devices.loaded([device('a')]);
    go('/devices/dev_a?tab=performance');
  });
  afterEach(() => {
    show(root, null);
    visible('visible');
    vi.useRealTimers();
  });

  /** A whole hour of samples, with one that is higher than the others. */
  function answersFully(): void {
    const full = whole().map((one) => ({ ...one, memory_used_bytes: { min: 1e9, avg: 2e9, max: 4e9 }, temperature_celsius: range(50), gpu_temperature_celsius: null }));
    answers(metrics(full.map((one, minute) => (minute === 5 ? { ...one, cpu_percent: { min: 1, avg: 20, max: 80 } } : one)), { memory_total_bytes: 16e9 }));
  }

  it('shows its outline until the samples are there', async () => {
    answersFully();
    show(root, <DevicePage />);
    await vi.waitFor(() => expect(root.querySelector('.skeleton')).not.toBeNull());
    await accessible();
    await says('On average 20 %');
    expect(root.querySelector('.skeleton')).toBeNull();
  });

  it('has a chart with a sentence for each reading of the device', async () => {
    answersFully();
    show(root, <DevicePage />);
    await says(`Now 20 %. On average 20 %, at most 80 % at ${clock(BEGIN + 5 * MINUTE)}.`);
    await says('Now 2.0 GB of 16.0 GB. On average 2.0 GB, at most 4.0 GB');
    await says('Now 50 °C. On average 50 °C, at most 60 °C');
    await says('The device sent samples through the whole period. Updated every 30 seconds.');
    expect([...root.querySelectorAll('.charted h2')].map((one) => one.textContent)).toEqual(['CPU', 'Memory', 'CPU temperature']);
    expect(root.querySelector('.charted')?.getAttribute('aria-label')).toBe('CPU');
    await accessible();
    expect(root.querySelector('[style]')).toBeNull();
  });

  it('has the numbers of a chart in a table', async () => {
    answersFully();
    show(root, <DevicePage />);
    await says('On average 20 %');
    root.querySelector('details')?.setAttribute('open', '');
    await vi.waitFor(() => expect(root.querySelectorAll('.charted-table tbody tr')).toHaveLength(60));
    expect(spaced(root.querySelector('.charted-table tbody tr')?.textContent)).toBe(`${clock(BEGIN)}20 %19 %30 %`);
    await accessible();
    expect(root.querySelector('[style]')).toBeNull();
  });

  it('says that samples are missing, in words and in the table', async () => {
    devices.loaded([device('a', { online: false })]);
    answers(metrics([point(0), point(1), point(40)]));
    show(root, <DevicePage />);
    await says('The device sent no samples for 58 min of this period.');
    await says('The device is offline.');
    // Nothing is said to be so now.
    await says(`Last 20 %, at ${clock(BEGIN + 40 * MINUTE)}.`);
    root.querySelector('details')?.setAttribute('open', '');
    await vi.waitFor(() => expect(root.querySelector('.charted-table')?.textContent).toContain('No sample––'));
    await accessible();
  });

  it('is empty, for a device without samples', async () => {
    answers(metrics([]));
    show(root, <DevicePage />);
    await says('No samples in this period');
    await says('Choose a longer period');
    await accessible();
    go('/devices/dev_a?tab=performance&period=30d');
    await says('Samples are kept for 30 days');
    await accessible();
  });

  it('fails in the backend’s words and tries again', async () => {
    served.answers['/devices/dev_a/metrics'] = [503, { status: 503, detail: 'the backend is overloaded' }];
    show(root, <DevicePage />);
    await says('The backend is overloaded.');
    await accessible();
    answers(metrics(whole()));
    await press('Try again');
    await says('On average 20 %');
  });

  it('has the period in the address', async () => {
    answers(metrics(whole()));
    go('/devices/dev_a?tab=performance&period=7d');
    show(root, <DevicePage />);
    await says('On average 20 %');
    await says('Updated every 30 minutes.');
    expect(asked()).toEqual(['7d']);
    await vi.advanceTimersByTimeAsync(20 * MINUTE);
    expect(asked()).toEqual(['7d']);
    await vi.advanceTimersByTimeAsync(10 * MINUTE);
    await vi.waitFor(() => expect(asked()).toEqual(['7d', '7d']));
    served.asked.splice(0, 1);
    const links = [...root.querySelectorAll<HTMLAnchorElement>('.periods a')];
    expect(links.map((link) => [link.getAttribute('href'), link.getAttribute('aria-current')])).toEqual([
      ['/devices/dev_a?tab=performance', null],
      ['/devices/dev_a?tab=performance&period=24h', null],
      ['/devices/dev_a?tab=performance&period=7d', 'true'],
      ['/devices/dev_a?tab=performance&period=30d', null],
    ]);
    go('/devices/dev_a?tab=performance&period=24h');
    await vi.waitFor(() => expect(asked()).toEqual(['7d', '24h']));
    listen();
    history.back();
    await vi.waitFor(() => expect(asked()).toEqual(['7d', '24h', '7d']));
    go('/devices/dev_a?tab=performance&period=nonsense');
    await vi.waitFor(() => expect(asked().at(-1)).toBe('1h'));
  });

  it('loads each period again while somebody looks, as often as it has a new point', async () => {
    answers(metrics(whole()));
    show(root, <DevicePage />);
    await says('On average 20 %');
    expect(asked()).toHaveLength(1);
    answers(metrics(whole().map((one) => ({ ...one, cpu_percent: range(40) }))));
    await vi.advanceTimersByTimeAsync(30_000);
    await says('On average 40 %');
    expect(asked()).toHaveLength(2);
    visible('hidden');
    await vi.advanceTimersByTimeAsync(300_000);
    expect(asked()).toHaveLength(2);
    visible('visible');
    await vi.waitFor(() => expect(asked()).toHaveLength(3));
    go('/devices/dev_a?tab=performance&period=24h');
    await vi.waitFor(() => expect(asked()).toHaveLength(4));
    await says('On average 40 %');
    await vi.advanceTimersByTimeAsync(2 * MINUTE);
    expect(asked()).toHaveLength(4);
    await vi.advanceTimersByTimeAsync(MINUTE);
    await vi.waitFor(() => expect(asked()).toHaveLength(5));
    visible('hidden');
    await vi.advanceTimersByTimeAsync(300_000);
    expect(asked()).toHaveLength(5);
    visible('visible');
    await vi.waitFor(() => expect(asked()).toHaveLength(6));
    go('/devices/dev_a?tab=about');
    await says('Identity');
    await vi.advanceTimersByTimeAsync(300_000);
    expect(asked()).toEqual(['1h', '1h', '1h', '24h', '24h', '24h']);
  });

  it('asks for nothing in a tab that was opened in the background', async () => {
    visible('hidden');
    answers(metrics(whole()));
    show(root, <DevicePage />);
    await says('Last hour');
    await vi.advanceTimersByTimeAsync(300_000);
    expect(asked()).toEqual([]);
    visible('visible');
    await says('On average 20 %');
    expect(asked()).toHaveLength(1);
  });

  it('keeps what is shown if the last hour cannot be loaded again, and mends itself', async () => {
    answers(metrics(whole()));
    show(root, <DevicePage />);
    await says('On average 20 %');
    served.answers['/devices/dev_a/metrics'] = [503, { status: 503, detail: 'the backend is overloaded' }];
    await vi.advanceTimersByTimeAsync(30_000);
    await says('The load of the device could not be loaded: The backend is overloaded.');
    await says('On average 20 %');
    const alert = root.querySelector('[role=alert]');
    await vi.advanceTimersByTimeAsync(30_000);
    await vi.waitFor(() => expect(asked()).toHaveLength(3));
    expect(root.querySelector('[role=alert]')).toBe(alert);
    await accessible();
    answers(metrics(whole()));
    await vi.advanceTimersByTimeAsync(30_000);
    await vi.waitFor(() => expect(root.querySelector('[role=alert]')).toBeNull());
  });

  it('asks once at a time, although an answer takes longer than the interval', async () => {
    served.answers['/devices/dev_a/metrics'] = () => new Promise(() => undefined);
    show(root, <DevicePage />);
    await vi.waitFor(() => expect(asked()).toHaveLength(1));
    await vi.advanceTimersByTimeAsync(300_000);
    expect(asked()).toHaveLength(1);
  });

  it('shows the load of a device with a hostile name, which stays text', async () => {
    answers(metrics(whole()));
    for (const name of HOSTILE) {
      devices.changed(device('a', { name }));
      show(root, <DevicePage />);
      await says('On average 20 %');
      expect(root.querySelector('img')).toBeNull();
      expect(root.textContent).not.toMatch(/[\u0000\u202e\u200b]/);
      show(root, null);
    }
  });

  it('knows each reading of the API by a name', () => {
    const full = metrics([point(0, Object.fromEntries(READINGS.map((reading) => [reading, range(5)])))]);
    expect(READINGS.every((reading) => figuresOf(full, reading)?.average === 5)).toBe(true);
  });
});
