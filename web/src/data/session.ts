// The login of this browser. The backend keeps it in a cookie that no script can read, so all tabs share it. Beside it the
// pages hold a secret of this origin, which each request carries in a header: a page of another origin or another port
// has the cookie sent along, but cannot read the secret. Tabs tell each other of logins and logouts.

import { signal } from '@preact/signals';

import { deadline, isLate } from './deadline';
import { Problem, problemOf, Unreachable, Unreadable } from './problem';
import { pauseAfter, persist, sleep } from './retry';
import type { Me, OpenSession, SessionOpened } from './types';

/** The header that only a page of this origin can send. */
export const CSRF_HEADER = 'x-link-csrf';
/** The pages that are not built from `web/` read the same entry. */
const STORED = 'link.csrf';
const CHANNEL = 'link.session';
/** How long the backend is told of a logout again, in milliseconds. */
const FAREWELL = 60_000;

/** Whether somebody is logged in; `ended` is a login that was taken away while a page was open. */
export const session = signal<'unknown' | 'in' | 'out' | 'ended'>('unknown');
/** The error of the automatic login by code or stored session. The login page shows it. */
export const barred = signal<unknown>(null);
/** Whether the backend knows of the last logout; the login shows if it does not. */
export const farewell = signal<'told' | 'trying' | 'failed'>('told');

type Said = { did: 'out' } | { did: 'in'; who: string };

/** The value of the header before any login. A login needs the header with any value; other requests are refused. */
const NO_SECRET = '1';

/**
 * The secret of the login whose person is at this tab. It wins over the storage, in which another tab may have put the
 * secret of another person, and takes its place where the browser forbids the storage.
 */
let held: string | null = null;
/** The account and the user of this tab. */
let who: string | null = null;
/** Counts logins and logouts: the answer to a request from before the newest of them does not end the session. */
let epoch = 0;
let channel: BroadcastChannel | null = null;

/** Takes up the login of this browser, if there is one, as soon as the backend answers. */
export async function resume(): Promise<void> {
  try {
    await takeUp();
  } catch (error) {
    session.value = 'out';
    barred.value = error;
  }
}

async function takeUp(): Promise<void> {
  listen();
  if (await redeemCode()) return;
  const secret = stored();
  if (secret === null) {
    session.value = 'out';
    return;
  }
  const mine = epoch;
  try {
    const me = await persist(() => whoAmI(secret), () => mine === epoch && session.peek() === 'unknown');
    if (!me) return;
    held = secret;
    enter(me);
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
  // Whoever was at this page leaves before another person comes.
  if (session.peek() === 'in' && who !== nameOf(opened.me)) session.value = 'unknown';
  enter(opened.me);
  tell({ did: 'in', who: nameOf(opened.me) });
}

/** Logs out, here, in all tabs and at the backend. */
export async function logOut(): Promise<void> {
  const secret = csrf();
  forget('out');
  tell({ did: 'out' });
  await bidFarewell(secret);
}

/** Has the backend end the session, again and again for a while. A login with this browser ends the session too. */
async function bidFarewell(secret: string): Promise<void> {
  const mine = epoch;
  const latest = Date.now() + FAREWELL;
  for (let failures = 1; mine === epoch; failures += 1) {
    const error = await request('DELETE', '/session', undefined, secret).then(() => null, (failed: unknown) => failed);
    if (mine !== epoch) return;
    // A session that the backend does not know needs no end.
    if (error === null || (error instanceof Problem && (error.status === 401 || error.status === 404))) {
      farewell.value = 'told';
      return;
    }
    const pause = pauseAfter(failures, error);
    if (Date.now() + pause > latest) {
      farewell.value = 'failed';
      return;
    }
    farewell.value = 'trying';
    await sleep(pause);
  }
}

/** Returns the value of the header. The backend compares it for every request of a session, reads and streams included. */
export function csrf(): string {
  return held ?? stored() ?? NO_SECRET;
}

/**
 * Takes the refusal of a request that was sent with `secret`. Returns whether the same person has logged in in another tab
 * since, so that the request may be sent again. What one person has begun is never sent in the name of another.
 */
export async function renewed(secret: string): Promise<boolean> {
  if (session.peek() !== 'in') return false;
  if (secret !== (stored() ?? NO_SECRET)) return check();
  forget('ended');
  return false;
}

/** Asks the backend whether this login still lasts, and whose login the browser has. Returns whether nothing has changed. */
export async function check(): Promise<boolean> {
  const secret = stored() ?? NO_SECRET;
  const mine = epoch;
  const changed = (): boolean => mine !== epoch || session.peek() !== 'in';
  try {
    const me = await whoAmI(secret);
    if (changed()) return false;
    if (nameOf(me) !== who) beginAnew();
    else held = secret;
    return nameOf(me) === who;
  } catch (error) {
    const lost = error instanceof Problem && error.status === 401;
    if (lost && !changed() && secret === (stored() ?? NO_SECRET)) forget('ended');
    return false;
  }
}

/** Takes up the login of another person, who has logged in with this browser. */
export function beginAnew(): void {
  epoch += 1;
  // The cookie that belonged to the secret of this tab is gone.
  held = null;
  session.value = 'unknown';
  void resume();
}

/** Returns what tells people apart: the account and the user. */
export function nameOf(me: Me): string {
  return `${me.account_id}.${me.user_id}`;
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
  barred.value = null;
  farewell.value = 'told';
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
      beginAnew();
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
    // The login is of this tab alone: what may be left in the storage is the secret of an older login.
    unstore();
  }
}

function unstore(): void {
  try {
    localStorage.removeItem(STORED);
  } catch {
    // The browser forbids the storage, so it has nothing.
  }
}

async function whoAmI(secret: string): Promise<Me> {
  return (await request('GET', '/me', undefined, secret)) as Me;
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
      signal: deadline(),
      // A logout reaches the backend although its page is closed.
      keepalive: method === 'DELETE',
    });
  } catch (cause) {
    throw new Unreachable(cause);
  }
  const text = await response.text().catch((error: unknown) => {
    throw isLate(error) ? new Unreachable(error) : error;
  });
  if (!response.ok) throw problemOf(response, text);
  try {
    return text === '' ? null : JSON.parse(text);
  } catch (cause) {
    throw new Unreadable(cause);
  }
}
