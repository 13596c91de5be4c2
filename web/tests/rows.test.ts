import { describe, expect, it, vi } from 'vitest';

import { Rows } from '../src/data/rows';
import type { Device } from '../src/data/types';
import { device, numbers } from './fixtures';

const rowsOf = (): Rows<Device> => new Rows<Device>((item) => item.device_id);

describe('rows', () => {
  it('let an event win over a page of a load that began before it', () => {
    const rows = rowsOf();
    rows.beginLoad();
    rows.changed(device('a', { name: 'new' }));
    rows.removed('dev_b');
    rows.loaded([device('a', { name: 'old' }), device('b')]);
    rows.endLoad();
    expect(rows.all().map(({ name }) => name)).toEqual(['new']);
  });

  it('keep a sample that arrived before its device', () => {
    const rows = rowsOf();
    rows.beginLoad();
    rows.patched('dev_a', { agent_version: '2.0.0' });
    rows.loaded([device('a', { name: 'a', agent_version: '1.0.0' })]);
    rows.endLoad();
    expect(rows.all()[0]).toMatchObject({ name: 'a', agent_version: '2.0.0' });
  });

  it('forget what a whole load has not named', () => {
    const rows = rowsOf();
    rows.loaded([device('a'), device('b')]);
    rows.beginLoad();
    rows.loaded([device('b')]);
    rows.endLoad();
    expect(rows.all().map(({ name }) => name)).toEqual(['b']);
  });

  it('are shown at once when they are the first ones, and further pages of a load together', () => {
    vi.useFakeTimers();
    try {
      const rows = rowsOf();
      rows.clear();
      const seen: number[] = [];
      const stop = rows.revision.subscribe(() => seen.push(rows.size));
      const mine = rows.beginLoad();
      rows.loaded([device('a')], mine);
      vi.advanceTimersByTime(0);
      expect(seen.at(-1)).toBe(1);
      rows.loaded([device('b')], mine);
      vi.advanceTimersByTime(900);
      rows.loaded([device('c')], mine);
      expect(seen.at(-1)).toBe(1);
      vi.advanceTimersByTime(100);
      expect(seen.at(-1)).toBe(3);
      rows.loaded([device('d')], mine);
      rows.endLoad(mine);
      expect(seen.at(-1)).toBe(4);
      stop();
    } finally {
      vi.useRealTimers();
    }
  });

  it('redraw only the row that has changed', () => {
    const rows = rowsOf();
    rows.loaded([device('a'), device('b')]);
    const seen: string[] = [];
    const stop = rows.row('dev_a')?.subscribe(({ name }) => seen.push(name));
    rows.changed(device('b', { name: 'other' }));
    rows.changed(device('a', { name: 'renamed' }));
    stop?.();
    expect(seen).toEqual(['a', 'renamed']);
  });

  it.each(Array.from({ length: 300 }, (_, seed) => seed))('equal the truth after schedule %i of drops and loads', (seed) => {
    const random = numbers(seed);
    const truth = new Map<string, Device>();
    const rows = rowsOf();
    const ids = Array.from('abcdefgh');
    let counter = 0;
    let connected = false;
    const load: { pages: Device[][] | null } = { pages: null };
    const change = (): void => {
      const id = ids[Math.floor(random() * ids.length)] ?? 'a';
      const key = `dev_${id}`;
      counter += 1;
      const kind = random();
      const known = truth.get(key);
      if (kind < 0.2) {
        truth.delete(key);
        if (connected) rows.removed(key);
      } else if (kind < 0.5 && known) {
        const part = { agent_version: `1.0.${counter}` };
        truth.set(key, { ...known, ...part });
        if (connected) rows.patched(key, part);
      } else {
        const item = device(id, { name: `${id}${counter}` });
        truth.set(key, item);
        if (connected) rows.changed(item);
      }
    };
    const connect = (): void => {
      connected = true;
      rows.beginLoad();
      load.pages = [];
    };
    // The backend answers with the truth of the moment; the answer arrives after further changes.
    const ask = (half: number): Device[] =>
      [...truth.values()].filter((item) => ids.indexOf(item.device_id.slice(4)) % 2 === half);
    for (let step = 0; step < 60; step += 1) {
      change();
      const next = random();
      if (!connected && next < 0.3) connect();
      else if (connected && next < 0.1) {
        connected = false;
        load.pages = null;
      } else if (load.pages && load.pages.length < 2 && next < 0.5) load.pages.push(ask(load.pages.length));
      else if (load.pages?.length === 2 && next < 0.7) {
        load.pages.forEach((items) => rows.loaded(items));
        rows.endLoad();
        load.pages = null;
      }
    }
    connect();
    const last = [ask(0), ask(1)];
    change();
    last.forEach((items) => rows.loaded(items));
    change();
    rows.endLoad();
    change();
    const byId = (items: Device[]): Device[] => items.sort((a, b) => (a.device_id < b.device_id ? -1 : 1));
    expect(byId(rows.all())).toEqual(byId([...truth.values()]));
  });
});
