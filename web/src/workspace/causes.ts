// Decides why a request to a model failed. Pure: facts in, one cause with its remedy out.
//
// A browser tells a page nothing but "failed" about a refused preflight, a closed port, a denied permission and a blocked
// request alike. What tells them apart is gathered by `facts.ts`. A cause is named only on evidence; where several remain,
// the text says so.

import { text } from '../text';
import { sentence } from '../text/visible';

/** The largest request body a device reads, in bytes. */
export const BODY_LIMIT = 32 * 1024 * 1024;
/** The same in whole megabytes: a request of this size is never too large. */
export const BODY_LIMIT_MB = Math.floor(BODY_LIMIT / 1e6);

/** What is known about a request that failed from the request alone. */
export interface FailedRequest {
  kind: 'network' | 'refused' | 'engine' | 'broken' | 'stopped' | 'elsewhere';
  message?: string | null;
  /** The size of the request, in bytes. */
  size?: number | null;
  status?: number | null;
  code?: string | null;
  detail?: string | null;
  hint?: string | null;
  retryAfter?: number | null;
  /** Whether the words are the engine's, not the agent's. */
  engine?: boolean;
  tokens?: number | null;
  context?: number | null;
  /** The id of the device that answered in the place of the one that was meant. */
  device?: string | null;
}

export interface Facts {
  request: FailedRequest;
  /** Whether anything answers on the port. */
  reachable: boolean;
  /** The state of the browser's permission to reach this computer; `null` where the browser has none. */
  permission: string | null;
  page: { origin: string; secure: boolean; loopback: boolean; https: boolean; webkit: boolean };
  target: { model: string; device: string; port: number };
  /** The name of the device that answered in the place of the target's, if it is of this account. */
  other?: string | null;
  /** Whether the backend answers. */
  backend: boolean;
  allowlist: readonly string[] | null;
  device: { online: boolean; updating?: boolean } | null;
  deployment: { stale: boolean; serving: boolean; state: string; detail: string | null; port: number } | null;
}

/** `allow` puts the origin on the allowlist, then repairs. */
export type Remedy = 'repair' | 'redeploy' | 'allow' | 'serve' | 'retry';

export interface Cause {
  code: string;
  title: string;
  detail: string;
  remedy: string;
  /** What can be done, the best first. */
  actions: readonly Remedy[];
}

/** Returns the cause of a failure. */
export function classify(facts: Facts): Cause {
  switch (facts.request.kind) {
    case 'refused':
      return refused(facts);
    case 'engine':
      return engineError(facts);
    case 'broken':
      return broken(facts);
    case 'elsewhere':
      return cause('other-device', text.causes.otherDevice(where(facts), facts.target.device, facts.other ?? null), []);
    case 'network':
    case 'stopped':
      return facts.reachable ? crossOrigin(facts) : unreachable(facts);
  }
}

/** The port answers, and still the browser did not let the page through. */
function crossOrigin(facts: Facts): Cause {
  const { page, allowlist, deployment, request, target } = facts;
  if ((request.size ?? 0) > BODY_LIMIT) return tooLarge(facts);
  if (allowlist && !allowlist.includes(page.origin)) {
    return repairable(facts, cause('origin-not-listed', text.causes.originNotListed(page.origin), ['allow']));
  }
  if (!deployment || deployment.stale) {
    return repairable(facts, cause('allowlist-stale', text.causes.allowlistStale(page.origin), ['repair', 'redeploy']));
  }
  if (deployment.port !== target.port) return moved(facts, deployment.port);
  if (!deployment.serving) return notServing(facts);
  const words = text.causes.preflightRefused(where(facts), page.origin);
  return repairable(facts, cause('preflight-refused', words, ['repair', 'redeploy', 'retry']));
}

/** Nothing on the port could be reached at all. */
function unreachable(facts: Facts): Cause {
  const { page, permission, device, deployment, backend, target } = facts;
  // A browser that knows the permission never gives it to an insecure page, and calls that denied.
  if (!page.loopback && !page.secure && permission !== null) {
    return cause('insecure-context', text.causes.insecureContext(where(facts), page.origin), ['retry']);
  }
  if (!page.loopback && permission === 'denied') {
    return cause('local-network-denied', text.causes.localNetworkDenied(page.origin), ['retry']);
  }
  if (device && !device.online) return offline(facts);
  if (deployment && deployment.port !== target.port) return moved(facts, deployment.port);
  if (deployment?.state === 'starting') return loading(facts);
  if (deployment && !deployment.serving) return notServing(facts);
  if (page.https && page.webkit) return cause('mixed-content', text.causes.mixedContent(where(facts)), ['retry']);
  if (!page.loopback && permission === 'prompt') {
    return cause('local-network-undecided', text.causes.localNetworkUndecided(), ['retry']);
  }
  if (!backend) return cause('backend-unreachable', text.causes.backendUnreachable(where(facts)), ['retry']);
  return cause('nothing-answers', text.causes.nothingAnswers(where(facts), target.device), ['retry']);
}

/** The device or its engine answered, and the page could read why not. */
function refused(facts: Facts): Cause {
  const { request } = facts;
  if (request.code === 'origin-not-allowed') return crossOrigin({ ...facts, deployment: null });
  if (request.status === 413) return tooLarge(facts);
  if (request.code === 'exceed_context_size_error') return contextExceeded(facts);
  if (request.code === 'path-not-served') {
    return cause('not-for-chat', text.causes.notForChat(facts.target.model, request.detail ? sentence(request.detail) : null), []);
  }
  if (request.code === 'model-not-served') return notServing(facts);
  if (request.code === 'engine-loading' || request.status === 503) return loading(facts);
  if (request.code === 'engine-unavailable' || request.status === 502) {
    return cause('engine-unavailable', text.causes.engineUnavailable(facts.target.model), ['retry', 'redeploy']);
  }
  return engineError(facts);
}

function broken(facts: Facts): Cause {
  if (facts.device && !facts.device.online) return offline(facts);
  if (facts.deployment && !facts.deployment.serving) return notServing(facts);
  return cause('broken-off', text.causes.brokenOff(where(facts)), ['retry']);
}

function tooLarge({ request }: Facts): Cause {
  return cause('request-too-large', text.causes.requestTooLarge(BODY_LIMIT_MB, (request.size ?? 0) > BODY_LIMIT ? (request.size ?? null) : null), []);
}

function contextExceeded({ request, target }: Facts): Cause {
  return cause('context-exceeded', text.causes.contextExceeded(target.model, request.tokens ?? null, request.context ?? null), []);
}

function loading({ request, target }: Facts): Cause {
  return cause('engine-loading', text.causes.engineLoading(target.model, target.device, request.retryAfter ?? null), ['retry']);
}

function notServing({ deployment, device, target }: Facts): Cause {
  const why = deployment?.detail ? sentence(deployment.detail) : null;
  const away = device?.online === false;
  return cause('not-serving', text.causes.notServing(target.model, target.device, why, away), away ? ['retry'] : ['serve']);
}

function moved({ target }: Facts, port: number): Cause {
  return cause('port-moved', text.causes.portMoved(target.model, target.device, port, target.port), ['retry']);
}

function offline({ device, target }: Facts): Cause {
  return cause('device-offline', text.causes.deviceOffline(target.device, device?.updating ?? false), ['retry']);
}

function engineError({ request }: Facts): Cause {
  const words = text.causes.engineError(request.engine ?? false, request.detail ?? null, request.status ?? null, request.hint ?? null);
  const { detail, remedy } = words;
  return cause('engine-error', { ...words, detail: sentence(detail), remedy: sentence(remedy) }, ['retry']);
}

/** A cause whose remedies need the device: while it is offline they are only named. */
function repairable({ device }: Facts, found: Cause): Cause {
  if (device?.online !== false) return found;
  return { ...found, remedy: text.causes.whenOnline(found.remedy), actions: ['retry'] };
}

function where({ target }: Facts): string {
  return `127.0.0.1:${target.port}`;
}

function cause(code: string, words: { title: string; detail: string; remedy: string }, actions: readonly Remedy[]): Cause {
  return { code, ...words, actions };
}
