// The backend's operations, in the words of the pages.

import { csrf } from './csrf.js';
import { sentence } from './format.js';
import { Problem, Unreachable, send, upload } from './http.js';
import { refused } from './session.js';

/** The shortest time between two questions about the same command, in milliseconds. */
const POLL_GAP = 300;

export const inquireDevice = (code) =>
  call('POST', '/auth/device/inquire', { body: { user_code: code } });
export const decideDevice = (code, allow) =>
  call('POST', '/auth/device/decide', { body: { user_code: code, allow } });

export const devices = () => all('/devices');
export const updateDevice = (id, version) =>
  call('POST', `/devices/${id}/update`, {
    body: { version },
    headers: { 'idempotency-key': newKey() },
  });
/** Needs no login: the code is the proof. */
export const retireDevice = (code) =>
  send('POST', '/devices/retire', { body: { retire_code: code } });

export const models = () => all('/models');
export const createModel = (body) => call('POST', '/models', { body });
export const uploadModel = (id, file, progress) =>
  upload(`/models/${id}/content`, file, { progress });

export const deployments = () => all('/deployments?current=true');
export const deployment = (id) => call('GET', `/deployments/${id}`);
export const deploy = (body) =>
  call('POST', '/deployments', { body, headers: { 'idempotency-key': newKey() } });
export const cancelDeployment = (id) => call('POST', `/deployments/${id}/cancel`);

export const serve = (model, device) => call('POST', `/models/${model}/serve/${device}`);
export const stop = (model, device) => call('POST', `/models/${model}/stop/${device}`);
export const uninstall = (model, device) => call('POST', `/models/${model}/uninstall/${device}`);
export const repair = (model, device) =>
  call('POST', `/models/${model}/repair-serving/${device}`, {
    headers: { 'idempotency-key': newKey() },
  });

export const command = (id) => call('GET', `/commands/${id}`);

export const keys = () => all('/keys');
export const createKey = (body) => call('POST', '/keys', { body });
export const revokeKey = (id) => call('DELETE', `/keys/${id}`);

/** The account's own `origins`, and the `defaults` of the backend: deployments carry both. */
export const allowlist = () => call('GET', '/settings/allowlist');
export const setAllowlist = (origins) => call('PUT', '/settings/allowlist', { body: { origins } });

/**
 * Follows a command until it is known what became of it: the device has reported a result, a newer
 * command took its place, or it has expired; `heard` is called
 * with the command whenever the backend has answered.
 */
export async function outcome(command, { heard = () => {}, signal } = {}) {
  let latest = command;
  while (!latest.result && latest.state !== 'expired') {
    const asked = Date.now();
    latest = await call('GET', `/commands/${command.command_id}?wait=20`, { signal });
    heard(latest);
    if (!latest.result) await pause(POLL_GAP - (Date.now() - asked));
  }
  return latest;
}

/** Follows a deployment until it has ended. */
export async function deploymentOutcome(started, { heard = () => {} } = {}) {
  let latest = started;
  while (!['completed', 'failed', 'cancelled'].includes(latest.state)) {
    await pause(700);
    latest = await deployment(started.deployment_id);
    heard(latest);
  }
  return latest;
}

/** Resolves after so many milliseconds. */
export function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, Math.max(milliseconds, 0)));
}

/** What a person should read about an error: what happened, and what to do next. */
export function explain(error) {
  if (error instanceof Problem) {
    // Hints that name a command are for a terminal; the page has buttons for the same.
    const hint = error.hint && !error.hint.includes('`link ') ? error.hint : '';
    return [error.message, hint].filter(Boolean).map(sentence).join(' ');
  }
  if (error instanceof Unreachable) return error.message;
  return `This page ran into an error: ${error.message}`;
}

async function call(method, path, options = {}) {
  const secret = csrf();
  try {
    return await send(method, path, options);
  } catch (error) {
    if (!(error instanceof Problem && error.status === 401) || !refused(secret)) throw error;
    return send(method, path, options);
  }
}

async function all(path) {
  const items = [];
  let cursor = null;
  do {
    const query = new URLSearchParams({ limit: '200' });
    if (cursor) query.set('cursor', cursor);
    const page = await call('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`);
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor);
  return items;
}

/** A key that makes one request of a request that is sent twice. */
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
