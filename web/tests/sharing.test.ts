import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { followShared } from '../src/data/sharing';
import type { Message, StreamOptions } from '../src/data/stream';

const streams: StreamOptions[] = [];

vi.mock('../src/data/stream', () => ({
  follow: (options: StreamOptions) => {
    streams.push(options);
    return new Promise<void>((resolve) => options.signal.addEventListener('abort', () => resolve()));
  },
}));

/** Grants a lock to one holder after the other, as a browser does for its tabs. */
class Locks {
  #queue: Promise<unknown> = Promise.resolve();

  request(_name: string, { signal }: { signal: AbortSignal }, hold: () => Promise<void>): Promise<unknown> {
    const turn = this.#queue.then(() => (signal.aborted ? undefined : hold()));
    this.#queue = turn;
    return turn;
  }
}

const change: Message = { type: 'change', id: '7', change: { kind: 'device', id: 'dev_a', item: {} } };

interface Tab {
  heard: Message[];
  close: () => void;
}

function open(): Tab {
  const heard: Message[] = [];
  return { heard, close: followShared('account.user', (message) => heard.push(message)).close };
}

describe('a stream for all tabs', () => {
  const tabs: Tab[] = [];
  const next = (): Tab => {
    const tab = open();
    tabs.push(tab);
    return tab;
  };
  beforeEach(() => {
    streams.length = 0;
    Object.defineProperty(navigator, 'locks', { value: new Locks(), configurable: true });
  });
  afterEach(() => {
    for (const tab of tabs.splice(0)) tab.close();
  });

  it('is read by one tab and heard by all', async () => {
    const [first, second] = [next(), next()];
    await vi.waitFor(() => expect(streams).toHaveLength(1));
    streams[0]?.heard({ type: 'ready', id: '1', resumed: false });
    streams[0]?.heard(change);
    const all = [{ type: 'ready', id: '1', resumed: false }, change];
    await vi.waitFor(() => expect(second.heard).toEqual(all));
    expect(first.heard).toEqual(all);
    expect(streams).toHaveLength(1);
  });

  it('has only the kinds that the pages show', async () => {
    next();
    await vi.waitFor(() => expect(streams).toHaveLength(1));
    expect(streams[0]?.query).toBe('?kinds=device,system,deployment,command,model,operation,summary');
  });

  it('tells a new tab to load, also if it hears a change first', async () => {
    next();
    await vi.waitFor(() => expect(streams).toHaveLength(1));
    streams[0]?.heard({ type: 'ready', id: '1', resumed: false });
    const late = next();
    streams[0]?.heard(change);
    await vi.waitFor(() => expect(late.heard).toContainEqual({ type: 'ready', id: null, resumed: false }));
    await vi.waitFor(() => expect(late.heard).toContainEqual(change));
  });

  it('goes on in another tab, from the last id, when its tab is closed', async () => {
    const [first, second] = [next(), next()];
    await vi.waitFor(() => expect(streams).toHaveLength(1));
    streams[0]?.heard({ type: 'ready', id: '1', resumed: false });
    streams[0]?.heard(change);
    await vi.waitFor(() => expect(second.heard).toHaveLength(2));
    first.close();
    await vi.waitFor(() => expect(streams).toHaveLength(2));
    expect(streams[1]?.lastId).toBe('7');
  });

  it('is one of the tab alone where the browser refuses locks', async () => {
    const refuse = (): Promise<never> => Promise.reject(new DOMException('The request was denied.', 'SecurityError'));
    Object.defineProperty(navigator, 'locks', { value: { request: refuse }, configurable: true });
    const tab = next();
    await vi.waitFor(() => expect(streams).toHaveLength(1));
    streams[0]?.heard(change);
    expect(tab.heard).toEqual([change]);
    tab.close();
    expect(streams[0]?.signal.aborted).toBe(true);
  });
});
