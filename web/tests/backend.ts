// A backend that answers as a test says, and remembers what it was asked.

import { vi } from 'vitest';

export interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Headers;
  body: unknown;
}
type Answer = [status: number, body: unknown, headers?: Record<string, string>];
type Answers = Record<string, Answer | ((asked: Asked) => Answer | Promise<Answer>)>;

export interface Backend {
  answers: Answers;
  asked: Asked[];
  /** The requests for a path so far. */
  to: (path: string) => Asked[];
}

const NOTHING: Answer = [404, { status: 404, title: 'Not found', detail: 'nothing here', code: 'not-found' }];

/** Puts a backend in the place of the network. */
export function backend(answers: Answers = {}): Backend {
  const asked: Asked[] = [];
  const all: Answers = { ...answers };
  vi.stubGlobal('fetch', async (input: Request | string, init?: RequestInit) => {
    const request = input instanceof Request ? input : new Request(new URL(input, location.href), init);
    const { pathname, searchParams } = new URL(request.url);
    const words = await request.clone().text();
    const body = words === '' ? null : (JSON.parse(words) as unknown);
    const path = pathname.slice('/api/v1'.length);
    const one = { method: request.method, path, query: searchParams, headers: request.headers, body };
    asked.push(one);
    const found = all[path] ?? NOTHING;
    const [status, document, headers] = typeof found === 'function' ? await found(one) : found;
    return new Response(document === null ? null : JSON.stringify(document), { status, headers: headers ?? {} });
  });
  return { answers: all, asked, to: (path) => asked.filter((one) => one.path === path) };
}

export const PERSON = { user_id: 'usr', account_id: 'acc', email: 'a@example.com', role: 'owner' };

/** The answer to a login of `me`. */
export function opened(csrf: string, me: object = PERSON): Answer {
  return [201, { session_id: 'ses', csrf, me }];
}

/** A promise that a test keeps when it wants. */
export function held<T>(): { promise: Promise<T>; keep: (value: T) => void } {
  let keep: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => (keep = resolve));
  return { promise, keep };
}
