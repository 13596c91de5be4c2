// The log of a device while new records arrive.

import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { followLog, loadOlder, type Log } from '../src/data/logs';
import type { StreamOptions } from '../src/data/stream';
import type { DeviceLog } from '../src/data/types';
import { backend, held, type Backend } from './backend';

const streams: StreamOptions[] = [];

vi.mock('../src/data/stream', () => ({
  follow: (options: StreamOptions) => {
    streams.push(options);
    return Promise.resolve();
  },
}));

const record = (number: number): DeviceLog => ({
  number, received_at: '2026-11-20T00:00:00Z', severity: 'info', category: 'engine', message: `record ${number}`,
});
const records = (from: number, to: number): DeviceLog[] =>
  Array.from({ length: to - from + 1 }, (_, index) => record(to - index));
const event = (number: number): void =>
  streams.at(-1)?.heard({ type: 'change', id: String(number), change: { kind: 'log', change: 'changed', item: record(number) } });

let served: Backend;
let log: Log | null;
let closing: AbortController;
let said: boolean[];
const current = (): Log => log as Log;
const numbers = (): number[] => current().records.map(({ number }) => number);

beforeEach(async () => {
  localStorage.setItem('link.csrf', 's');
  streams.length = 0;
  log = null;
  said = [];
  closing = new AbortController();
  served = backend({ '/devices/dev_a/logs': [200, { items: records(11, 12), next_cursor: 'older' }] });
  await followLog('dev_a', 'info', { current: () => log, took: (next) => (log = next), stands: () => false, whole: (whole) => said.push(whole) }, closing.signal);
});
afterEach(() => {
  closing.abort();
  vi.restoreAllMocks();
});

it('keeps older records when the next record arrives', async () => {
  served.answers['/devices/dev_a/logs'] = [200, { items: records(9, 10) }];
  log = await loadOlder(current, 'dev_a', 'info');
  event(13);
  expect(numbers()).toEqual([9, 10, 11, 12, 13]);
  expect(current().cursor).toBeNull();
});

it('keeps records that arrive while older ones are loaded', async () => {
  const answer = held<[number, unknown]>();
  served.answers['/devices/dev_a/logs'] = () => answer.promise;
  const loading = loadOlder(current, 'dev_a', 'info');
  event(13);
  answer.keep([200, { items: records(9, 10) }]);
  log = await loading;
  expect(numbers()).toEqual([9, 10, 11, 12, 13]);
});

it('makes room only for as long as nobody has loaded older records', () => {
  log = { records: records(1, 5_000).reverse(), cursor: 'older', extended: false };
  event(5_001);
  expect([current().records.length, current().cursor]).toEqual([5_000, null]);
  log = { records: records(1, 5_000).reverse(), cursor: 'older', extended: true };
  event(5_001);
  expect([current().records.length, current().cursor]).toEqual([5_001, 'older']);
});

it('fills a gap of several pages', async () => {
  served.answers['/devices/dev_a/logs'] = ({ query }) =>
    query.get('cursor') ? [200, { items: records(12, 14), next_cursor: 'more' }] : [200, { items: records(15, 16), next_cursor: 'x' }];
  streams[0]?.heard({ type: 'reset', id: '1' });
  await vi.waitFor(() => expect(numbers()).toEqual([11, 12, 13, 14, 15, 16]));
});

it('fills a gap although the backend is still starting, also a second one, and tells for how long records are missing', async () => {
  vi.useFakeTimers();
  try {
    served.answers['/devices/dev_a/logs'] = [503, { status: 503, detail: 'the backend starts' }];
    streams[0]?.heard({ type: 'ready', id: '1', resumed: false });
    expect(said).toEqual([false]);
    await vi.advanceTimersByTimeAsync(1_000);
    event(16);
    streams[0]?.heard({ type: 'lost', id: '1' });
    streams[0]?.heard({ type: 'ready', id: '1', resumed: false });
    // Longer than the patience of one question.
    await vi.advanceTimersByTimeAsync(1_800_000);
    expect([new Set(said), numbers()]).toEqual([new Set([false]), [11, 12, 16]]);
    served.answers['/devices/dev_a/logs'] = [200, { items: records(11, 17), next_cursor: null }];
    await vi.advanceTimersByTimeAsync(100_000);
    expect([said.at(-1), said.filter(Boolean).length, numbers()]).toEqual([true, 1, [11, 12, 13, 14, 15, 16, 17]]);
    const asked = served.to('/devices/dev_a/logs').length;
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect(served.to('/devices/dev_a/logs')).toHaveLength(asked);
  } finally {
    vi.useRealTimers();
  }
});

it('is not whole while its stream is away, although a gap was filled meanwhile, and asks nothing more once it is left', async () => {
  const answer = held<[number, unknown]>();
  served.answers['/devices/dev_a/logs'] = () => answer.promise;
  streams[0]?.heard({ type: 'ready', id: '1', resumed: false });
  streams[0]?.heard({ type: 'lost', id: '1' });
  answer.keep([200, { items: records(11, 14), next_cursor: null }]);
  await vi.waitFor(() => expect(numbers()).toEqual([11, 12, 13, 14]));
  expect(said).not.toContain(true);
  vi.useFakeTimers();
  try {
    served.answers['/devices/dev_a/logs'] = [503, { status: 503, detail: 'the backend starts' }];
    streams[0]?.heard({ type: 'ready', id: '1', resumed: false });
    await vi.advanceTimersByTimeAsync(100);
    closing.abort();
    const asked = served.to('/devices/dev_a/logs').length;
    await vi.advanceTimersByTimeAsync(100_000);
    expect(served.to('/devices/dev_a/logs').length).toBe(asked);
  } finally {
    vi.useRealTimers();
  }
});

it('has no stream while the page is hidden, and goes on from the last record', () => {
  event(13);
  const state = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
  document.dispatchEvent(new Event('visibilitychange'));
  expect(streams[0]?.signal.aborted).toBe(true);
  state.mockReturnValue('visible');
  document.dispatchEvent(new Event('visibilitychange'));
  expect(streams).toHaveLength(2);
  expect(streams[1]?.lastId).toBe('13');
  closing.abort();
  expect(streams[1]?.signal.aborted).toBe(true);
});
