// Requests to the backend, typed by its OpenAPI document. Every failure is a `Problem`, `Unreachable` or `Unreadable`.

import createClient from 'openapi-fetch';

import { problemOf, Unreachable, Unreadable } from './problem';
import type { paths } from './schema';
import { accessToken, refresh } from './session';

const client = createClient<paths>({
  baseUrl: location.origin,
  fetch: (request) => authorised(request),
});

export const { GET, POST, PATCH, DELETE } = client;

/** Sends a request with the access token, and once more with a new token if the first was refused. */
export async function authorised(request: Request): Promise<Response> {
  const again = request.clone();
  const first = await send(request);
  if (first.status !== 401) return first;
  await refresh();
  return send(again);
}

/** Returns the document of an answer, or throws what went wrong. */
export async function ask<T>(
  pending: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<T> {
  let answer;
  try {
    answer = await pending;
  } catch (error) {
    throw error instanceof SyntaxError ? new Unreadable(error) : error;
  }
  const { data, error, response } = answer;
  if (!response.ok) {
    throw problemOf(response, typeof error === 'string' ? error : JSON.stringify(error ?? {}));
  }
  return data as T;
}

/** Returns a key that makes a repeated request harmless. */
export function idempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function send(request: Request): Promise<Response> {
  request.headers.set('authorization', `Bearer ${await accessToken()}`);
  try {
    return await fetch(request, { cache: 'no-store' });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Unreachable(error);
  }
}
