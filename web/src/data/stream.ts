// One connection to the backend's event stream: opened with `fetch`, since `EventSource` cannot send the header of the
// session, and opened again from where it was cut. It ends with its signal.

import { authorised } from './client';
import { Problem } from './problem';
import { EventParser } from './sse';

/** A message of the backend: a change of one thing, or of the stream itself. */
export type Message =
  | { type: 'ready'; id: string | null; resumed: boolean }
  | { type: 'reset'; id: string | null }
  | { type: 'lost'; id: string | null }
  | { type: 'refused'; id: string | null }
  | { type: 'ended'; id: string | null }
  | { type: 'change'; id: string | null; change: Change };

export interface Change {
  kind: string;
  id?: string;
  device_id?: string | null;
  change?: 'changed' | 'removed';
  item: unknown;
}

export interface StreamOptions {
  query: string;
  lastId: string | null;
  signal: AbortSignal;
  heard: (message: Message) => void;
}

/** The backend is heard every 15 seconds; a stream that is silent for longer is dead. */
const SILENCE = 40_000;
const SHORTEST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;

/** Keeps a stream open until `signal` is aborted or the login ends. */
export async function follow(options: StreamOptions): Promise<void> {
  let lastId = options.lastId;
  let pause = SHORTEST_PAUSE;
  const heard = (message: Message): void => {
    lastId = message.id ?? lastId;
    if (message.type === 'ready') pause = SHORTEST_PAUSE;
    options.heard(message);
  };
  while (!options.signal.aborted) {
    const ended = await once({ ...options, lastId, heard });
    if (options.signal.aborted) return;
    if (ended) {
      options.heard({ type: 'ended', id: lastId });
      return;
    }
    options.heard({ type: 'lost', id: lastId });
    await sleep(pause * (0.75 + Math.random() / 2), options.signal);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}

/** Reads one connection to its end. Returns whether the login has ended. */
async function once({ query, lastId, signal, heard }: StreamOptions): Promise<boolean> {
  const silence = new AbortController();
  let watchdog = setTimeout(() => silence.abort(), SILENCE);
  const headers: Record<string, string> = { accept: 'text/event-stream' };
  if (lastId !== null) headers['last-event-id'] = lastId;
  try {
    const request = new Request(`${location.origin}/api/v1/events${query}`, {
      headers,
      signal: AbortSignal.any([signal, silence.signal]),
    });
    const response = await authorised(request);
    if (response.status === 403) heard({ type: 'refused', id: lastId });
    if (!response.ok || !response.body) return response.status === 401;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const parser = new EventParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return false;
      clearTimeout(watchdog);
      watchdog = setTimeout(() => silence.abort(), SILENCE);
      for (const { id, event, data } of parser.push(value)) {
        const message = messageOf(id, event, data);
        if (message) heard(message);
      }
    }
  } catch (error) {
    return error instanceof Problem && error.status === 401;
  } finally {
    clearTimeout(watchdog);
    silence.abort();
  }
}

function messageOf(id: string | null, event: string, data: string): Message | null {
  let parsed: { resumed?: boolean } & Partial<Change>;
  try {
    parsed = JSON.parse(data) as typeof parsed;
  } catch {
    return null;
  }
  if (event === 'ready') return { type: 'ready', id, resumed: parsed.resumed === true };
  if (event === 'reset') return { type: 'reset', id };
  // Whether the login or the role has ended shows at the next request: the stream is opened again.
  if (event === 'end') return null;
  return { type: 'change', id, change: { ...parsed, kind: parsed.kind ?? event, item: parsed.item ?? null } };
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
