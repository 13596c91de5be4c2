// The login of this tab. The access token lives in memory only. The refresh token lives in the tab's session storage
// under the name that the other pages use, is good for one refresh, and is exchanged before the access token expires.

import { signal } from '@preact/signals';

import { Problem, problemOf, Unreachable, Unreadable } from './problem';
import { persist } from './retry';
import type { Tokens } from './types';

const STORED = 'link.refresh-token';
/** How long before its end an access token is exchanged, in milliseconds. */
const MARGIN = 60_000;

/** Whether somebody is logged in; `ended` is a login that was taken away while a page was open. */
export const session = signal<'unknown' | 'in' | 'out' | 'ended'>('unknown');

let access: string | null = null;
let goodUntil = 0;
let refreshing: Promise<void> | null = null;
/** Counts logins and logouts: tokens that were asked for before the newest of them are not taken. */
let epoch = 0;

/** Takes up the login of this tab, if there is one, as soon as the backend answers. */
export async function resume(): Promise<void> {
  if (!sessionStorage.getItem(STORED)) {
    session.value = 'out';
    return;
  }
  try {
    await persist(refresh, () => session.peek() === 'unknown');
  } catch (error) {
    if (!(error instanceof Problem && error.status === 401)) throw error;
    if (session.peek() === 'unknown') forget('out');
  }
}

export async function logIn(email: string, password: string): Promise<void> {
  const tokens = await post('/auth/login', { email, password });
  begin();
  keep(tokens);
}

/** Logs out, here and at the backend. */
export async function logOut(): Promise<void> {
  const token = sessionStorage.getItem(STORED);
  forget('out');
  if (token) await revoke(token);
}

/** Returns an access token that is still good. */
export async function accessToken(): Promise<string> {
  if (access === null || Date.now() >= goodUntil - MARGIN) await refresh();
  if (access === null) throw new Problem(401, {});
  return access;
}

/** Exchanges the refresh token; calls at the same time share one exchange. */
export function refresh(): Promise<void> {
  if (refreshing) return refreshing;
  const running = exchange().finally(() => {
    if (refreshing === running) refreshing = null;
  });
  refreshing = running;
  return running;
}

async function exchange(): Promise<void> {
  const token = sessionStorage.getItem(STORED);
  const mine = epoch;
  if (!token) {
    if (session.peek() === 'in') forget('ended');
    throw new Problem(401, {});
  }
  let tokens: Tokens;
  try {
    tokens = await post('/auth/refresh', { refresh_token: token });
  } catch (error) {
    const refused = error instanceof Problem && error.status === 401;
    if (refused && mine === epoch && session.peek() === 'in') forget('ended');
    throw error;
  }
  if (mine !== epoch) {
    await revoke(tokens.refresh_token);
    throw new Problem(401, {});
  }
  keep(tokens);
}

function keep(tokens: Tokens): void {
  access = tokens.access_token;
  goodUntil = Date.now() + tokens.expires_in * 1000;
  sessionStorage.setItem(STORED, tokens.refresh_token);
  session.value = 'in';
}

function begin(): void {
  epoch += 1;
  refreshing = null;
}

function forget(state: 'out' | 'ended'): void {
  begin();
  access = null;
  goodUntil = 0;
  sessionStorage.removeItem(STORED);
  session.value = state;
}

/** Revokes a login at the backend; one that it does not know needs none. */
async function revoke(token: string): Promise<void> {
  await post('/auth/logout', { refresh_token: token }).catch(() => undefined);
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
  try {
    return (text === '' ? {} : JSON.parse(text)) as Tokens;
  } catch (cause) {
    throw new Unreadable(cause);
  }
}
