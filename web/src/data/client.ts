// Requests to the backend, typed by its OpenAPI document. Every failure is a `Problem`, `Unreachable` or `Unreadable`.

import createClient from 'openapi-fetch';

import { deadline, isLate } from './deadline';
import { staying } from './person';
import { problemOf, Unreachable, Unreadable } from './problem';
import type { paths } from './schema';
import { csrf, CSRF_HEADER, renewed } from './session';
import { noteDate } from './skew';

const client = createClient<paths>({
  baseUrl: location.origin,
  fetch: (request) => authorised(new Request(request, { signal: AbortSignal.any([request.signal, deadline()]) })),
});

export const { GET, POST, PUT, PATCH, DELETE } = client;

/** Sends a request with the cookie of the session, and once more if the same person has logged in elsewhere meanwhile. */
export async function authorised(request: Request): Promise<Response> {
  const again = request.clone();
  const secret = csrf();
  const first = await send(request, secret);
  if (first.status !== 401 || !(await renewed(secret))) return first;
  return send(again, csrf());
}

type Pending<T> = Promise<{ data?: T; error?: unknown; response: Response }>;

/** Returns the document of an answer, or throws what went wrong. An answer for a person who has left counts as none. */
export async function ask<T>(pending: Pending<T>): Promise<T> {
  return (await askTagged(pending)).document;
}

/** Like `ask`, and also returns the entity tag, with which a change is refused if somebody else was first. */
export async function askTagged<T>(pending: Pending<T>): Promise<{ document: T; tag: string | null }> {
  const here = staying();
  let answer;
  try {
    answer = await pending;
    here.throwIfAborted();
  } catch (error) {
    here.throwIfAborted();
    // The deadline may pass in the middle of an answer too.
    if (isLate(error)) throw new Unreachable(error);
    throw error instanceof SyntaxError ? new Unreadable(error) : error;
  }
  const { data, error, response } = answer;
  if (!response.ok) {
    throw problemOf(response, typeof error === 'string' ? error : JSON.stringify(error ?? {}));
  }
  // Only an answer that says so has no document: else something between took it.
  if (data === undefined && response.status !== 204) throw new Unreadable('an answer without a document');
  return { document: data as T, tag: response.headers.get('etag') };
}

/** Returns a key that makes a repeated request harmless. */
export function idempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function send(request: Request, secret: string): Promise<Response> {
  request.headers.set(CSRF_HEADER, secret);
  try {
    const response = await fetch(request, { cache: 'no-store', credentials: 'same-origin' });
    noteDate(response);
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Unreachable(error);
  }
}
