// The login. The access token lives in memory only; the refresh token lives in this tab's session
// storage, is good for one refresh, and is exchanged before the access token expires.

import { Problem, send } from './http.js';

const STORED = 'link.refresh-token';
/** How long before its end an access token is exchanged, in milliseconds. */
const MARGIN = 60_000;

let access = null;
let goodUntil = 0;
let refreshing = null;
let timer = null;
let ended = () => {};

/** Names the function that is called when the login has ended. */
export function onEnd(listener) {
  ended = listener;
}

/** Takes up the login of this tab, if there is one. */
export async function resume() {
  if (!sessionStorage.getItem(STORED)) return false;
  try {
    await refresh();
    return true;
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return false;
    throw error;
  }
}

/** Logs in with the one-time code that `link open` put into the address, if there is one. */
export async function redeemCode() {
  const found = /^#code=(.+)$/.exec(location.hash);
  if (!found) return false;
  // Neither the history nor a reload has the code.
  history.replaceState(null, '', location.pathname + location.search);
  keep(await send('POST', '/auth/local/redeem', { body: { code: decodeURIComponent(found[1]) } }));
  return true;
}

/** Logs in. */
export async function logIn(email, password) {
  keep(await send('POST', '/auth/login', { body: { email, password } }));
}

/** Creates the first account and logs in to it. */
export async function setUp(setupToken, email, password) {
  const body = { setup_token: setupToken, email, password };
  keep(await send('POST', '/setup', { body }));
}

/** Logs out, here and at the backend. */
export async function logOut() {
  const token = sessionStorage.getItem(STORED);
  forget();
  ended();
  if (token) {
    await send('POST', '/auth/logout', { body: { refresh_token: token } }).catch(() => {});
  }
}

/** Returns an access token that is still good. */
export async function accessToken() {
  if (!access || Date.now() >= goodUntil - MARGIN / 2) await refresh();
  return access;
}

/** Exchanges the refresh token; calls at the same time share one exchange. */
export function refresh() {
  refreshing ??= exchange().finally(() => {
    refreshing = null;
  });
  return refreshing;
}

async function exchange() {
  const token = sessionStorage.getItem(STORED);
  if (!token) throw new Problem(401, { code: 'unauthorized', detail: 'Log in to go on.' });
  try {
    keep(await send('POST', '/auth/refresh', { body: { refresh_token: token } }));
  } catch (error) {
    if (error instanceof Problem && error.status === 401) {
      forget();
      ended();
    }
    throw error;
  }
}

function keep(tokens) {
  access = tokens.access_token;
  sessionStorage.setItem(STORED, tokens.refresh_token);
  const lifetime = tokens.expires_in * 1000;
  goodUntil = Date.now() + lifetime;
  clearTimeout(timer);
  // A failure here is met by the next call, which refreshes by itself.
  timer = setTimeout(() => refresh().catch(() => {}), Math.max(lifetime - MARGIN, lifetime / 2));
}

function forget() {
  access = null;
  goodUntil = 0;
  clearTimeout(timer);
  sessionStorage.removeItem(STORED);
}
