// Every state that a failed request can be in, with the cause that it has. Shared by the tests of the diagnosis and of its
// mutants.

import type { Facts, FailedRequest, Remedy } from '../src/workspace/causes';

const ORIGIN = 'https://workspace.example';
const INSECURE = 'http://workspace.example';
const LIMIT = 32 * 1024 * 1024;

type Deployed = NonNullable<Facts['deployment']>;

export function world(changes: Partial<Facts> = {}): Facts {
  return {
    request: { kind: 'network', message: 'Failed to fetch', size: 100 },
    reachable: true,
    permission: 'granted',
    page: page(ORIGIN),
    target: { model: 'tiny', device: 'laptop', port: 8080 },
    backend: true,
    allowlist: ['https://old.example', ORIGIN, INSECURE],
    device: { online: true, updating: false },
    deployment: deployed({ stale: true }),
    ...changes,
  };
}

const silent = (changes: Partial<Facts> = {}): Facts => world({ reachable: false, ...changes });
export const refused = (status: number, said: Partial<FailedRequest>, changes: Partial<Facts> = {}): Facts =>
  world({ request: { kind: 'refused', status, ...said }, ...changes });
const network = (size: number): FailedRequest => ({ kind: 'network', message: 'Failed to fetch', size });
const elsewhere: FailedRequest = { kind: 'elsewhere', device: 'dev_b' };
const broken: FailedRequest = { kind: 'broken', message: 'network error' };

function deployed(changes: Partial<Deployed> = {}): Deployed {
  const { serving = true } = changes;
  return { stale: false, serving, state: serving ? 'serving' : 'not_serving', detail: null, port: 8080, ...changes };
}

function page(origin: string, changes: Partial<Facts['page']> = {}): Facts['page'] {
  return { origin, secure: true, loopback: false, https: origin.startsWith('https:'), webkit: false, ...changes };
}

const unknown: Partial<Facts> = { backend: false, deployment: null, device: null, allowlist: null };
const offline = { online: false };
const fresh = { deployment: deployed() };

export type Row = [what: string, facts: Facts, code: string, actions: readonly Remedy[]];

export const PORT_ANSWERS: Row[] = [
  ['a stale allowlist', world(), 'allowlist-stale', ['repair', 'redeploy']],
  ['nothing known', world(unknown), 'allowlist-stale', ['repair', 'redeploy']],
  ['stale, while the device is offline', world({ device: offline }), 'allowlist-stale', ['retry']],
  ['an origin on no list', world({ allowlist: ['https://old.example'] }), 'origin-not-listed', ['allow']],
  ['on no list, while the device is offline', world({ allowlist: [], device: offline }), 'origin-not-listed', ['retry']],
  ['on no list and another port', world({ allowlist: [], deployment: deployed({ port: 8081 }) }), 'origin-not-listed', ['allow']],
  ['a current allowlist', world(fresh), 'preflight-refused', ['repair', 'redeploy', 'retry']],
  ['current, while the device is offline', world({ ...fresh, device: offline }), 'preflight-refused', ['retry']],
  ['another port', world({ deployment: deployed({ port: 8081 }) }), 'port-moved', ['retry']],
  ['stale on another port', world({ deployment: deployed({ stale: true, port: 8081 }) }), 'allowlist-stale', ['repair', 'redeploy']],
  ['another port, stopped', world({ deployment: deployed({ port: 8081, serving: false }) }), 'port-moved', ['retry']],
  ['stopped', world({ deployment: deployed({ serving: false }) }), 'not-serving', ['serve']],
  ['stopped, while the device is offline', world({ device: offline, deployment: deployed({ serving: false }) }), 'not-serving', ['retry']],
  ['stopped, with a reason', world({ deployment: deployed({ serving: false, detail: 'out of memory' }) }), 'not-serving', ['serve']],
  ['a request above the limit', world({ request: network(40_000_000) }), 'request-too-large', []],
  ['a request one byte above the limit', world({ request: network(LIMIT + 1) }), 'request-too-large', []],
  ['a request at the limit', world({ request: network(LIMIT) }), 'allowlist-stale', ['repair', 'redeploy']],
];

export const SILENCE: Row[] = [
  ['permission denied', silent({ permission: 'denied' }), 'local-network-denied', ['retry']],
  ['permission denied, device offline', silent({ permission: 'denied', device: offline }), 'local-network-denied', ['retry']],
  ['denied for a loopback page', silent({ ...fresh, permission: 'denied', page: page(ORIGIN, { loopback: true }) }), 'nothing-answers', ['retry']],
  ['device offline', silent({ device: offline }), 'device-offline', ['retry']],
  ['device offline in an update', silent({ device: { online: false, updating: true } }), 'device-offline', ['retry']],
  ['offline and on another port', silent({ device: offline, deployment: deployed({ port: 8081 }) }), 'device-offline', ['retry']],
  ['another port', silent({ deployment: deployed({ port: 8081 }) }), 'port-moved', ['retry']],
  ['another port, starting', silent({ deployment: deployed({ port: 8081, serving: false, state: 'starting' }) }), 'port-moved', ['retry']],
  ['stopped', silent({ deployment: deployed({ stale: true, serving: false }) }), 'not-serving', ['serve']],
  ['starting', silent({ deployment: deployed({ serving: false, state: 'starting' }) }), 'engine-loading', ['retry']],
  ['an insecure page', silent({ page: page(INSECURE, { secure: false }), permission: 'denied' }), 'insecure-context', ['retry']],
  ['an insecure page, undecided', silent({ page: page(INSECURE, { secure: false }), permission: 'prompt' }), 'insecure-context', ['retry']],
  ['an insecure loopback page', silent({ ...fresh, page: page(INSECURE, { secure: false, loopback: true }) }), 'nothing-answers', ['retry']],
  ['an insecure page where no permission exists', silent({ ...fresh, page: page(INSECURE, { secure: false }), permission: null }), 'nothing-answers', ['retry']],
  ['https in WebKit', silent({ ...fresh, page: page(ORIGIN, { webkit: true }), permission: null }), 'mixed-content', ['retry']],
  ['https in WebKit, stopped', silent({ deployment: deployed({ serving: false }), page: page(ORIGIN, { webkit: true }) }), 'not-serving', ['serve']],
  ['http in WebKit', silent({ ...fresh, page: page(INSECURE, { webkit: true }), permission: null }), 'nothing-answers', ['retry']],
  ['permission not decided', silent({ ...fresh, permission: 'prompt' }), 'local-network-undecided', ['retry']],
  ['not decided for a loopback page', silent({ ...fresh, permission: 'prompt', page: page(ORIGIN, { loopback: true }) }), 'nothing-answers', ['retry']],
  ['not decided and no backend', silent({ ...unknown, permission: 'prompt' }), 'local-network-undecided', ['retry']],
  ['nothing', silent(fresh), 'nothing-answers', ['retry']],
  ['no backend', silent(unknown), 'backend-unreachable', ['retry']],
];

export const ANSWERED: Row[] = [
  ['origin not allowed', refused(403, { code: 'origin-not-allowed' }, fresh), 'allowlist-stale', ['repair', 'redeploy']],
  ['origin not allowed and on no list', refused(403, { code: 'origin-not-allowed' }, { allowlist: [] }), 'origin-not-listed', ['allow']],
  ['loading', refused(503, { code: 'engine-loading', retryAfter: 2 }), 'engine-loading', ['retry']],
  ['loading, by the code alone', refused(500, { code: 'engine-loading' }), 'engine-loading', ['retry']],
  ['503 without a code', refused(503, {}), 'engine-loading', ['retry']],
  ['engine away', refused(502, { code: 'engine-unavailable' }), 'engine-unavailable', ['retry', 'redeploy']],
  ['engine away, by the code alone', refused(500, { code: 'engine-unavailable' }), 'engine-unavailable', ['retry', 'redeploy']],
  ['502 without a code', refused(502, {}), 'engine-unavailable', ['retry', 'redeploy']],
  ['not served', refused(404, { code: 'model-not-served' }), 'not-serving', ['serve']],
  ['a path that the model is not for', refused(404, { code: 'path-not-served', detail: 'this model serves /v1/embeddings' }), 'not-for-chat', []],
  ['such a path without words', refused(404, { code: 'path-not-served' }), 'not-for-chat', []],
  ['too large', refused(413, { code: 'payload-too-large', size: 40_000_000 }), 'request-too-large', []],
  ['too large, of unknown size', refused(413, {}), 'request-too-large', []],
  ['too large, of a size that would fit', refused(413, { size: 100 }), 'request-too-large', []],
  ['too large, of the size that just fits', refused(413, { size: LIMIT }), 'request-too-large', []],
  ['context exceeded', refused(400, { engine: true, code: 'exceed_context_size_error', tokens: 5000, context: 4096 }), 'context-exceeded', []],
  ['context exceeded without numbers', refused(400, { engine: true, code: 'exceed_context_size_error', tokens: 5000 }), 'context-exceeded', []],
  ['an engine error', refused(500, { engine: true, detail: 'out of memory' }), 'engine-error', ['retry']],
  ['a refusal without words', refused(400, {}), 'engine-error', ['retry']],
  ['a refused host', refused(400, { code: 'host-not-allowed', detail: 'not a name of this device', hint: 'use localhost' }), 'engine-error', ['retry']],
  ['an engine error in the stream', world({ request: { kind: 'engine', engine: true, detail: 'decoding failed' } }), 'engine-error', ['retry']],
];

export const BEGAN: Row[] = [
  ['broken off', world({ request: broken, ...fresh }), 'broken-off', ['retry']],
  ['broken off, nothing known', world({ request: broken, ...unknown }), 'broken-off', ['retry']],
  ['broken off, device offline', world({ request: broken, device: offline }), 'device-offline', ['retry']],
  ['broken off, stopped', world({ request: broken, deployment: deployed({ serving: false }) }), 'not-serving', ['serve']],
];

export const ELSEWHERE: Row[] = [
  ['another device of the account', world({ request: elsewhere, other: 'desktop' }), 'other-device', []],
  ['a device of another account', world({ request: elsewhere, other: null }), 'other-device', []],
];

export const ROWS: readonly Row[] = [...PORT_ANSWERS, ...SILENCE, ...ANSWERED, ...BEGAN, ...ELSEWHERE];
