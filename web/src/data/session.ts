// The login of this tab. The access token lives in memory only. The refresh token lives in the tab's session storage
// under the name that the other pages use, is good for one refresh, and is exchanged before the access token expires.

import { signal } from '@preact/signals';

import { Problem, problemOf, Unreachable } from './problem';
import type { Tokens } from './types';

const STORED = 'link.refresh-token';
/** How long before its end an access token is exchanged, in milliseconds. */
const MARGIN = 60_000;

/** Whether somebody is logged in; `ended` is a login that was taken away while a page was open. */
export const session = signal<'unknown' | 'in' | 'out' | 'ended'>('unknown');

let access: string | null = null;
let goodUntil = 0;
let refreshing: Promise<void> | null = null;

/** Takes up the login of this tab, if there is one. */
export async function resume(): Promise<void> {
  if (!sessionStorage.getItem(STORED)) {
    session.value = 'out';
    return;
  }
  try {
    await refresh();
  } catch (error) {
    if (!(error instanceof Problem && error.status === 401)) throw error;
    session.value = 'out';
  }
}

export async function logIn(email: string, password: string): Promise<void> {
  keep(await post('/auth/login', { email, password }));
}

/** Logs out, here and at the backend. */
export async function logOut(): Promise<void> {
  const token = sessionStorage.getItem(STORED);
  forget('out');
  if (token) await post('/auth/logout', { refresh_token: token }).catch(() => undefined);
}

/** Returns an access token that is still good. */
export async function accessToken(): Promise<string> {
  if (access === null || Date.now() >= goodUntil - MARGIN) await refresh();
  if (access === null) throw new Problem(401, {});
  return access;
}

/** Exchanges the refresh token; calls at the same time share one exchange. */
export function refresh(): Promise<void> {
  refreshing ??= exchange().finally(() => {
    refreshing = null;
  });
  return refreshing;
}

async function exchange(): Promise<void> {
  const token = sessionStorage.getItem(STORED);
  if (!token) {
    forget('ended');
    throw new Problem(401, {});
  }
  try {
    keep(await post('/auth/refresh', { refresh_token: token }));
  } catch (error) {
    if (error instanceof Problem && error.status === 401) forget('ended');
    throw error;
  }
}

function keep(tokens: Tokens): void {
  access = tokens.access_token;
  goodUntil = Date.now() + tokens.expires_in * 1000;
  sessionStorage.setItem(STORED, tokens.refresh_token);
  session.value = 'in';
}

function forget(state: 'out' | 'ended'): void {
  access = null;
  goodUntil = 0;
  sessionStorage.removeItem(STORED);
  session.value = state;
}

async function post(path: string, body: unknown): Promise<Tokens> {
  let response: Response;
  try {
    response = await fetch(`/api/v1${path}`, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(body),
      cache: 'no-store',
    });
  } catch (cause) {
    throw new Unreachable(cause);
  }
  const text = await response.text();
  if (!response.ok) throw problemOf(response, text);
  return (text === '' ? {} : JSON.parse(text)) as Tokens;
}
