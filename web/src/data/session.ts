// The login of this browser. The backend keeps it in a cookie that no script can read, so all tabs share it. Beside it the
// pages hold a secret of this origin, which each request carries in a header: a page of another origin or another port
// has the cookie sent along, but cannot read the secret. Tabs tell each other of logins and logouts.

import { signal } from '@preact/signals';

import { Problem, problemOf, Unreachable, Unreadable } from './problem';
import { persist } from './retry';
import type { Me, OpenSession, SessionOpened } from './types';

/** The header that only a page of this origin can send. */
export const CSRF_HEADER = 'x-link-csrf';
/** The pages that are not built from `web/` read the same entry. */
const STORED = 'link.csrf';
const CHANNEL = 'link.session';

/** Whether somebody is logged in; `ended` is a login that was taken away while a page was open. */
export const session = signal<'unknown' | 'in' | 'out' | 'ended'>('unknown');

type Said = { did: 'out' } | { did: 'in'; who: string };

/** Takes the place of the storage where a browser forbids it: the login is then of this tab alone. */
let held: string | null = null;
/** The account and the user of this tab. */
let who: string | null = null;
/** Counts logins and logouts: an answer that was asked for before the newest of them ends nothing. */
let epoch = 0;
let channel: BroadcastChannel | null = null;

/** Takes up the login of this browser, if there is one, as soon as the backend answers. */
export async function resume(): Promise<void> {
  listen();
  if (await redeemCode()) return;
  if (stored() === null) {
    session.value = 'out';
    return;
  }
  const mine = epoch;
  try {
    const me = await persist(whoAmI, () => mine === epoch && session.peek() === 'unknown');
    if (me) enter(me);
  } catch (error) {
    if (!(error instanceof Problem && (error.status === 401 || error.status === 403))) throw error;
    if (mine === epoch && session.peek() === 'unknown') forget('out');
  }
}

export async function logIn(email: string, password: string): Promise<void> {
  await open({ with: 'password', email, password });
}

/** Logs in by any means. The session before, if there is one, ends. */
export async function open(wish: OpenSession): Promise<void> {
  listen();
  const opened = (await request('POST', '/session', wish)) as SessionOpened;
  epoch += 1;
  store(opened.csrf);
  enter(opened.me);
  tell({ did: 'in', who: nameOf(opened.me) });
}

/** Logs out, here, in all tabs and at the backend. */
export async function logOut(): Promise<void> {
  const secret = csrf();
  forget('out');
  tell({ did: 'out' });
  // A session that the backend does not know needs no end.
  await request('DELETE', '/session', undefined, secret).catch(() => undefined);
}

/** Returns the value of the header of this origin. Over https any value does. */
export function csrf(): string {
  return stored() ?? '1';
}

/** Notes that the backend refused a request that was sent with `secret`. Returns whether another tab has logged in since. */
export function refused(secret: string): boolean {
  if (secret !== csrf()) return true;
  if (session.peek() === 'in') forget('ended');
  return false;
}

/** Asks the backend whether the login still lasts, since another tab has lost it. */
export async function check(): Promise<void> {
  const secret = csrf();
  try {
    await whoAmI();
  } catch (error) {
    if (error instanceof Problem && error.status === 401) refused(secret);
  }
}

/** Logs in with the one-time code that `link open` put into the address, if there is one. */
async function redeemCode(): Promise<boolean> {
  const found = /^#code=(.+)$/.exec(location.hash);
  if (!found?.[1]) return false;
  // Neither the history nor a reload has the code.
  history.replaceState(history.state, '', location.pathname + location.search);
  await open({ with: 'code', code: decodeURIComponent(found[1]) });
  return true;
}

function enter(me: Me): void {
  who = nameOf(me);
  session.value = 'in';
}

function forget(state: 'out' | 'ended'): void {
  epoch += 1;
  who = null;
  store(null);
  session.value = state;
}

/** Follows what other tabs do: one of them logs out, or logs in as somebody else. */
function listen(): void {
  if (channel || typeof BroadcastChannel === 'undefined') return;
  channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }: MessageEvent<Said>) => {
    if (data.did === 'out') {
      if (session.peek() === 'in' || session.peek() === 'unknown') forgetQuietly();
    } else if (session.peek() !== 'in' || data.who !== who) {
      epoch += 1;
      session.value = 'unknown';
      resume().catch(() => (session.value = 'out'));
    }
  };
}

/** Ends the login of this tab after another tab has ended that of the browser. */
function forgetQuietly(): void {
  epoch += 1;
  who = null;
  held = null;
  session.value = 'out';
}

function tell(said: Said): void {
  channel?.postMessage(said);
}

function nameOf(me: Me): string {
  return `${me.account_id}.${me.user_id}`;
}

function stored(): string | null {
  try {
    return localStorage.getItem(STORED) ?? held;
  } catch {
    return held;
  }
}

function store(secret: string | null): void {
  held = secret;
  try {
    if (secret === null) localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, secret);
  } catch {
    // The login is of this tab alone.
  }
}

async function whoAmI(): Promise<Me> {
  return (await request('GET', '/me')) as Me;
}

async function request(method: string, path: string, body?: OpenSession, secret = csrf()): Promise<unknown> {
  const headers: Record<string, string> = { accept: 'application/json', [CSRF_HEADER]: secret };
  if (body) headers['content-type'] = 'application/json';
  let response: Response;
  try {
    response = await fetch(`/api/v1${path}`, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
      cache: 'no-store',
      credentials: 'same-origin',
    });
  } catch (cause) {
    throw new Unreachable(cause);
  }
  const text = await response.text();
  if (!response.ok) throw problemOf(response, text);
  try {
    return text === '' ? null : JSON.parse(text);
  } catch (cause) {
    throw new Unreadable(cause);
  }
}
