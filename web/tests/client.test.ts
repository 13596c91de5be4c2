// A request of the pages ends: with an answer, with a refusal, or with words about a backend that says nothing.

import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { ask, GET } from '../src/data/client';
import { Unreachable } from '../src/data/problem';
import { logIn } from '../src/data/session';

let passes: AbortController;
let limit: number | undefined;

beforeEach(() => {
  passes = new AbortController();
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
    limit = milliseconds;
    return passes.signal;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const late = (): void => passes.abort(new DOMException('late', 'TimeoutError'));

it('does not wait for ever for a backend that says nothing', async () => {
  vi.stubGlobal('fetch', (request: Request) => new Promise((_, reject) => {
    request.signal.addEventListener('abort', () => reject(request.signal.reason as Error));
  }));
  const asked = ask(GET('/api/v1/summary'));
  late();
  await expect(asked).rejects.toThrow(Unreachable);
  expect(limit).toBe(30_000);
});

it('does not wait for ever for the answer to a login', async () => {
  vi.stubGlobal('fetch', (_: string, { signal }: RequestInit) => new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error));
  }));
  const login = logIn('a@example.com', 'x');
  await vi.waitFor(() => expect(limit).toBe(30_000));
  late();
  await expect(login).rejects.toThrow(Unreachable);
});

it('does not wait for ever for the rest of an answer', async () => {
  vi.stubGlobal('fetch', (request: Request) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"devices":'));
        request.signal.addEventListener('abort', () => controller.error(request.signal.reason));
      },
    });
    return Promise.resolve(new Response(body, { headers: { 'content-type': 'application/json' } }));
  });
  const asked = ask(GET('/api/v1/summary'));
  await Promise.resolve();
  late();
  await expect(asked).rejects.toThrow(Unreachable);
});

it('tells an aborted request from a silent backend', async () => {
  vi.stubGlobal('fetch', (request: Request) => new Promise((_, reject) => {
    request.signal.addEventListener('abort', () => reject(request.signal.reason as Error));
  }));
  const gone = new AbortController();
  const asked = ask(GET('/api/v1/summary', { signal: gone.signal }));
  gone.abort(new DOMException('gone', 'AbortError'));
  await expect(asked).rejects.toHaveProperty('name', 'AbortError');
});
