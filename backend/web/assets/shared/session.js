// The login of this browser: a cookie that no script can read, shared by all tabs and pages. Tabs tell each other of logins
// and logouts.

import { csrf, store, stored } from './csrf.js';
import { Problem, send } from './http.js';

const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('link.session');
let ended = () => {};
let who = null;

/** Names the function that is called when the login has ended. */
export function onEnd(listener) {
  ended = listener;
  if (!channel) return;
  channel.onmessage = ({ data }) => {
    if (data.did === 'out' || data.who !== who) ended();
  };
}

/** Takes up the login of this browser, if there is one. Returns who that is, or null. */
export async function resume() {
  if (stored() === null) return null;
  try {
    return entered(await send('GET', '/me'));
  } catch (error) {
    if (!(error instanceof Problem && (error.status === 401 || error.status === 403))) throw error;
    store(null);
    return null;
  }
}

/** Logs in with the one-time code that `link open` put into the address, if there is one. */
export async function redeemCode() {
  const found = /^#code=(.+)$/.exec(location.hash);
  if (!found) return null;
  // Neither the history nor a reload has the code.
  history.replaceState(null, '', location.pathname + location.search);
  return open({ with: 'code', code: decodeURIComponent(found[1]) });
}

/** Logs in. */
export function logIn(email, password) {
  return open({ with: 'password', email, password });
}

/** Creates the first account and logs in to it. */
export function setUp(setupToken, email, password) {
  return open({ with: 'setup', setup_token: setupToken, email, password });
}

/** Logs out, here, in all tabs and at the backend. */
export async function logOut() {
  const headers = { 'x-link-csrf': csrf() };
  store(null);
  channel?.postMessage({ did: 'out' });
  // A session that the backend does not know needs no end.
  await send('DELETE', '/session', { headers }).catch(() => {});
  ended();
}

/** Notes that the backend refused a request that was sent with `secret`. Returns whether another tab has logged in since. */
export function refused(secret) {
  if (secret !== csrf()) return true;
  store(null);
  ended();
  return false;
}

async function open(wish) {
  const opened = await send('POST', '/session', { body: wish });
  store(opened.csrf);
  const me = entered(opened.me);
  channel?.postMessage({ did: 'in', who });
  return me;
}

function entered(me) {
  who = `${me.account_id}.${me.user_id}`;
  return me;
}
