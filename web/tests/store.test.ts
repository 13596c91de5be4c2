import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { type Follower, followers } from '../src/data/followers';
import { signal } from '@preact/signals';

import { Rows } from '../src/data/rows';
import { apply, deployments, devices, heard, live, load, reload, stop, type Loading } from '../src/data/store';
import type { Device } from '../src/data/types';
import { EventParser } from '../src/data/sse';
import { deployment, device } from './fixtures';

describe('events become rows', () => {
  beforeEach(() => {
    vi.stubGlobal('fetch', vi.fn(() => Promise.reject(new TypeError('no network'))));
  });
  afterEach(() => {
    stop();
    });

  it('adds, patches and removes a device', () => {
    apply({ kind: 'device', id: 'dev_a', change: 'changed', item: device('a') });
    const system = { cpu_percent: 7 };
    apply({ kind: 'system', id: 'dev_a', change: 'changed', item: { system } });
    expect(devices.row('dev_a')?.value.system).toEqual(system);
    apply({ kind: 'device', id: 'dev_a', change: 'removed', item: null });
    expect(devices.size).toBe(0);
  });

  it('shows only the newest deployment of a model on a device', () => {
    apply({ kind: 'deployment', id: 'dpl_1', change: 'changed', item: deployment('1', 'dev_a') });
    apply({ kind: 'deployment', id: 'dpl_1', change: 'changed', item: deployment('1', 'dev_a', { current: false }) });
    expect(deployments.size).toBe(0);
  });

  it('forgets the deployments of a device or a model that is removed', () => {
    apply({ kind: 'deployment', id: 'dpl_1', change: 'changed', item: deployment('1', 'dev_a') });
    apply({ kind: 'deployment', id: 'dpl_2', change: 'changed', item: deployment('2', 'dev_b') });
    apply({ kind: 'device', id: 'dev_a', change: 'removed', item: null });
    expect(deployments.all().map(({ device_id }) => device_id)).toEqual(['dev_b']);
    apply({ kind: 'model', id: 'mdl_2', change: 'removed', item: null });
    expect(deployments.size).toBe(0);
  });

  it('does not take deployments of what was removed from a page that was read before', () => {
    for (const [gone, kind] of [['dev_a', 'device'], ['mdl_1', 'model']] as const) {
      const mine = deployments.beginLoad();
      apply({ kind, id: gone, change: 'removed', item: null });
      deployments.loaded([deployment('1', 'dev_a'), deployment('2', 'dev_b')], mine);
      deployments.endLoad(mine);
      expect(deployments.all().map(({ device_id }) => device_id)).toEqual(['dev_b']);
    }
    // A later load knows by itself what is there.
    const mine = deployments.beginLoad();
    deployments.loaded([deployment('1', 'dev_a')], mine);
    deployments.endLoad(mine);
    expect(deployments.all().map(({ device_id }) => device_id)).toEqual(['dev_a']);
  });

  it('tells every follower of each change, of each load and of the end of the login', () => {
    const told: string[] = [];
    const follower: Follower = {
      changed: ({ kind }) => told.push(kind),
      reload: () => told.push('reload'),
      clear: () => told.push('clear'),
    };
    followers.add(follower);
    for (const kind of ['device', 'key']) apply({ kind, id: 'x', change: 'removed', item: null });
    void reload();
    stop();
    followers.delete(follower);
    expect(told).toEqual(['device', 'key', 'reload', 'clear']);
  });

  it('ignores kinds that it does not know', () => {
    apply({ kind: 'weather', id: 'x', change: 'changed', item: {} });
    expect(devices.size).toBe(0);
  });

  it('says since when the stream is cut, from the first cut on', () => {
    heard({ type: 'lost', id: null });
    const first = live.value;
    heard({ type: 'lost', id: null });
    expect(live.value).toBe(first);
    heard({ type: 'ready', id: '1', resumed: true });
    expect(live.value).toEqual({ state: 'live' });
  });
});

describe('a list of several pages', () => {
  it('asks for the next page before it takes one, and for none after the last', async () => {
    const rows = new Rows<Device>((item) => item.device_id);
    const loading = signal<Loading>({ state: 'idle', error: null });
    const asked: [string | undefined, number][] = [];
    await load(rows, loading, ({ cursor }) => {
      asked.push([cursor, rows.size]);
      const next = { undefined: '1', 1: '2', 2: null }[String(cursor)] ?? null;
      return Promise.resolve({ items: [device(String(cursor))], next_cursor: next });
    });
    expect(asked).toEqual([[undefined, 0], ['1', 0], ['2', 1]]);
    expect(rows.size).toBe(3);
    expect(loading.value.state).toBe('ready');
  });

  it('takes no page after a newer load has begun', async () => {
    const rows = new Rows<Device>((item) => item.device_id);
    const loading = signal<Loading>({ state: 'idle', error: null });
    let asked = 0;
    await load(rows, loading, () => {
      asked += 1;
      if (asked === 2) rows.beginLoad();
      return Promise.resolve({ items: [device(String(asked))], next_cursor: 'more' });
    });
    expect(asked).toBe(2);
    expect(rows.size).toBe(0);
  });
});

describe('the parser of server-sent events', () => {
  const stream = ': heartbeat\n\nid: 7\r\nevent: device\r\ndata: {"a":\r\ndata: 1}\r\n\r\ndata: x\n\nevent: none\n\n';

  it.each([1, 2, 3, 7, 1_000])('gives the same events for pieces of %i characters', (size) => {
    const parser = new EventParser();
    const pieces = Array.from({ length: Math.ceil(stream.length / size) }, (_, index) =>
      stream.slice(index * size, (index + 1) * size),
    );
    expect(pieces.flatMap((piece) => parser.push(piece))).toEqual([
      { id: '7', event: 'device', data: '{"a":\n1}' },
      { id: '7', event: 'message', data: 'x' },
    ]);
  });
});
