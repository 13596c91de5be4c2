// Decides why a chat completion failed. Pure: facts in, one cause with its remedy out.
//
// A browser tells a page nothing but "failed" about a refused preflight, a closed port, a denied
// permission and a blocked request alike. What tells them apart is gathered by `facts.js`. A cause
// is named only on evidence; where several remain, the text says so.

import { sentence } from '../shared/format.js';

/** The largest request body a device reads, in bytes. */
const BODY_LIMIT = 32 * 1024 * 1024;

/**
 * Returns the cause of a failure: `{code, title, detail, remedy, actions}`. The actions, the best
 * one first, are `repair`, `redeploy`, `allow` (put the origin on the allowlist, then repair),
 * `serve` and `retry`.
 */
export function classify(facts) {
  switch (facts.seen.kind) {
    case 'refused':
      return refused(facts);
    case 'engine':
      return engineError(facts);
    case 'broken':
      return broken(facts);
    default:
      return facts.reachable ? crossOrigin(facts) : unreachable(facts);
  }
}

/** The port answers, and still the browser did not let the page through. */
function crossOrigin(facts) {
  const { page, allowlist, deployment, seen, target } = facts;
  if (seen.size > BODY_LIMIT) return tooLarge(facts);
  if (allowlist && !allowlist.includes(page.origin)) {
    return repairable(facts, {
      code: 'origin-not-listed',
      title: 'This page may not use this model yet',
      detail:
        `Neither this account's allowlist nor the backend's defaults have this workspace's origin (${page.origin}), so this model was ` +
        `deployed without it. The browser's cross-origin preflight was refused.`,
      remedy: 'Put the origin on the allowlist; the model is then repaired in place.',
      actions: ['allow'],
    });
  }
  if (!deployment || deployment.stale) {
    return repairable(facts, {
      code: 'allowlist-stale',
      title: 'This page may not use this model yet',
      detail:
        `This model was deployed with an allowlist that lacks this workspace's origin ` +
        `(${page.origin}). The browser's cross-origin preflight was refused.`,
      remedy: 'Repair corrects the allowlist in place and keeps the model loaded. A new deployment corrects it too.',
      actions: ['repair', 'redeploy'],
    });
  }
  if (deployment.port !== target.port) return moved(facts);
  if (!deployment.serving) return notServing(facts);
  return repairable(facts, {
    code: 'preflight-refused',
    title: 'The browser’s cross-origin preflight was refused',
    detail:
      `Something answers on ${where(facts)}, but it does not accept requests from ${page.origin}, ` +
      `although the backend believes that the model's allowlist has it.`,
    remedy:
      'Repair sends the allowlist again. If that does not help, another program may answer on this port, ' +
      'or the device is not the computer that this page is open on.',
    actions: ['repair', 'redeploy', 'retry'],
  });
}

/** Nothing on the port could be reached at all. */
function unreachable(facts) {
  const { page, permission, device, deployment, backend, target } = facts;
  // A browser that knows the permission never gives it to an insecure page, and calls that denied.
  if (!page.loopback && !page.secure && permission !== null) {
    return cause(
      'insecure-context',
      'This page was opened without https',
      `Browsers let only pages of secure origins reach ${where(facts)}; ${page.origin} is not one.`,
      'Open the workspace with https, or as http://localhost on the device itself.',
      ['retry'],
    );
  }
  if (!page.loopback && permission === 'denied') {
    return cause(
      'local-network-denied',
      'The browser denies this page access to this computer',
      `The permission to reach devices on the local network is denied for ${page.origin}, so the ` +
        `request never left the browser.`,
      'Allow “Local network access” in the site settings (the icon beside the address), then try again. ' +
        'In a managed browser, the policy LoopbackNetworkAllowedForUrls can allow it.',
      ['retry'],
    );
  }
  if (device && !device.online) return offline(facts);
  if (deployment && deployment.port !== target.port) return moved(facts);
  if (deployment?.state === 'starting') return loading(facts);
  if (deployment && !deployment.serving) return notServing(facts);
  if (page.https && page.webkit) {
    return cause(
      'mixed-content',
      'The browser blocks the request as mixed content',
      `This page came over https, and this browser lets such a page make no http request, not even to ` +
        `${where(facts)} of the same computer.`,
      'Use a browser that allows requests to the local computer (Chrome, Edge or Firefox), or open the ' +
        'workspace as http://localhost on the device.',
      ['retry'],
    );
  }
  if (!page.loopback && permission === 'prompt') {
    return cause(
      'local-network-undecided',
      'The browser is waiting for your permission',
      `This page needs the permission to reach devices on the local network, and it is not given yet.`,
      'Try again and choose “Allow” when the browser asks.',
      ['retry'],
    );
  }
  if (!backend) {
    return cause(
      'backend-unreachable',
      'Neither the model nor the backend answers',
      `Nothing answers on ${where(facts)}, and the backend cannot be asked why.`,
      'Check the network connection of this computer and that the backend runs.',
      ['retry'],
    );
  }
  return cause(
    'nothing-answers',
    'Nothing answers on this computer',
    `Nothing answers on ${where(facts)} of the computer that this page is open on, although ` +
      `${target.device} is online and serves the model.`,
    `Open the workspace on ${target.device} itself. If this is ${target.device}, a firewall or a browser ` +
      'extension may block the request, or the agent has just stopped: look at `link status`.',
    ['retry'],
  );
}

/** The device or its engine answered, and the page could read why not. */
function refused(facts) {
  const { seen } = facts;
  if (seen.code === 'origin-not-allowed') return crossOrigin({ ...facts, deployment: null });
  if (seen.status === 413) return tooLarge(facts);
  if (seen.code === 'exceed_context_size_error') return contextExceeded(facts);
  if (seen.code === 'model-not-served') return notServing(facts);
  if (seen.code === 'engine-loading' || seen.status === 503) return loading(facts);
  if (seen.code === 'engine-unavailable' || seen.status === 502) {
    return cause(
      'engine-unavailable',
      'The engine does not answer',
      `The device received the request, but the engine of ${facts.target.model} does not answer.`,
      'Wait a moment and try again: the agent restarts an engine that has died. If it stays so, look at ' +
        '`link status` on the device.',
      ['retry', 'redeploy'],
    );
  }
  return engineError(facts);
}

function broken(facts) {
  if (facts.device && !facts.device.online) return offline(facts);
  if (facts.deployment && !facts.deployment.serving) return notServing(facts);
  return cause(
    'broken-off',
    'The answer broke off',
    `The connection to ${where(facts)} ended before the answer did.`,
    'Try again. If it happens again, look at `link logs` on the device.',
    ['retry'],
  );
}

function tooLarge({ seen }) {
  const size = seen.size ? ` It has ${(seen.size / 1e6).toFixed(1)} MB.` : '';
  return cause(
    'request-too-large',
    'The request is larger than the device accepts',
    `A request may have ${Math.floor(BODY_LIMIT / 1e6)} MB.${size}`,
    'Shorten the message, or start a new conversation.',
    [],
  );
}

function contextExceeded({ seen, target }) {
  const numbers =
    seen.tokens && seen.context
      ? `The conversation has ${seen.tokens} tokens; ${target.model} was started with room for ${seen.context}.`
      : `The conversation has more tokens than ${target.model} was started with room for.`;
  return cause(
    'context-exceeded',
    'The conversation is longer than the model can read',
    numbers,
    'Start a new conversation, or shorten the message.',
    [],
  );
}

function loading({ seen, target }) {
  const wait = seen.retryAfter ? `in ${seen.retryAfter} seconds` : 'in a few seconds';
  return cause(
    'engine-loading',
    'The model is being loaded',
    `${target.device} is loading ${target.model} into memory.`,
    `Try again ${wait}.`,
    ['retry'],
  );
}

function notServing({ deployment, device, target }) {
  const why = deployment?.detail ? ` The device says: ${sentence(deployment.detail)}` : '';
  return cause(
    'not-serving',
    'The model is not being served',
    `${target.model} is not served on ${target.device}.${why}`,
    device?.online === false ? 'It can be served when the device is online again.' : 'Serve it, then try again.',
    device?.online === false ? ['retry'] : ['serve'],
  );
}

function moved({ deployment, target }) {
  return cause(
    'port-moved',
    'The model moved to another port',
    `${target.model} is served on port ${deployment.port} of ${target.device}, no longer on ${target.port}.`,
    'Try again; the new port is used.',
    ['retry'],
  );
}

function offline({ device, target }) {
  return cause(
    'device-offline',
    'The device is offline',
    device.updating
      ? `${target.device} was being updated, and the backend has not heard from it since.`
      : `The backend has not heard from ${target.device}.`,
    'Check that it is switched on, has a network connection, and that `link status` says that the agent runs.',
    ['retry'],
  );
}

function engineError({ seen }) {
  const status = seen.status ? ` (status ${seen.status})` : '';
  return cause(
    'engine-error',
    seen.engine ? 'The engine reported an error' : 'The device refused the request',
    seen.detail ? sentence(`${seen.detail}${status}`) : `There is no further word${status}.`,
    seen.hint ? sentence(seen.hint) : 'Try again. If it happens again, look at `link logs` on the device.',
    ['retry'],
  );
}

/** A cause whose remedies need the device: while it is offline they are only named. */
function repairable({ device }, { code, title, detail, remedy, actions }) {
  if (device?.online === false) {
    return cause(code, title, detail, `${remedy} This is possible when the device is online again.`, ['retry']);
  }
  return cause(code, title, detail, remedy, actions);
}

function where({ target }) {
  return `127.0.0.1:${target.port}`;
}

function cause(code, title, detail, remedy, actions) {
  return { code, title, detail, remedy, actions };
}
