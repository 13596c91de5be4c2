// Every cause that the workspace can name, as a page on which it happens. What the device or the browser would do is played:
// the answer on the model's port, what the backend says meanwhile, and where the page comes from.

import type { Locator, Page, Route } from 'playwright-core';

import type { Fake } from './server.ts';

export interface Played {
  cause: string;
  /** What happens to a request to the model. */
  model: 'silent' | 'refuses' | { status: number; body: unknown; type?: string; device?: string };
  /** What the backend says while the cause is looked for. */
  backend?: 'silent' | { path: RegExp; change: (document: never) => unknown };
  /** The address that the page comes from; the computer itself without it. */
  from?: string;
  permission?: 'denied' | 'prompt' | 'granted';
  /** Whether the browser is one that never reaches this computer from an https page. */
  webkit?: boolean;
}

/** The ports of models on this computer. */
export const MODEL = /127\.0\.0\.1:80[89]\d/;

/** Returns the field that finds a model. A list stands in its place until its code has come. */
export function modelField(page: Page): Locator {
  return page.locator('input#model');
}

const DEPLOYMENTS = /\/api\/v1\/deployments\?/;
const CORS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
const problem = (status: number, code: string, detail: string): Played['model'] => ({
  status,
  body: { type: `urn:link:problem:${code}`, status, code, detail, error: { message: detail, type: 'invalid_request_error', code, param: null } },
});
const engine = (status: number, error: object): Played['model'] => ({ status, body: { error } });
const stale = (change: object) => ({ path: DEPLOYMENTS, change: ({ items }: { items: object[] }) => ({ items: items.map((one) => ({ ...one, ...change })) }) });

export const CAUSES: readonly Played[] = [
  { cause: 'allowlist-stale', model: 'refuses', backend: stale({ stale: true }) },
  { cause: 'origin-not-listed', model: 'refuses', backend: { path: /settings\/allowlist/, change: () => ({ origins: ['https://link.example.com'], defaults: [] }) } },
  { cause: 'preflight-refused', model: 'refuses' },
  { cause: 'port-moved', model: 'refuses', backend: stale({ serving: { state: 'serving', is_serving: true, port: 8099 } }) },
  { cause: 'not-serving', model: 'silent', backend: stale({ serving: { state: 'not_serving', is_serving: false, port: 8080, detail: 'the engine was killed: out of memory' } }) },
  { cause: 'device-offline', model: 'silent', backend: { path: /\/devices\/dev_/, change: (device: object) => ({ ...device, online: false }) } },
  { cause: 'nothing-answers', model: 'silent' },
  { cause: 'backend-unreachable', model: 'silent', backend: 'silent' },
  { cause: 'insecure-context', model: 'silent', from: 'http://link.example.com', permission: 'denied' },
  { cause: 'local-network-denied', model: 'silent', from: 'https://link.example.com', permission: 'denied' },
  { cause: 'local-network-undecided', model: 'silent', from: 'https://link.example.com', permission: 'prompt' },
  { cause: 'mixed-content', model: 'silent', from: 'https://link.example.com', permission: 'granted', webkit: true },
  { cause: 'engine-loading', model: problem(503, 'engine-loading', 'the model is being loaded') },
  { cause: 'engine-unavailable', model: problem(502, 'engine-unavailable', 'the engine does not answer') },
  { cause: 'request-too-large', model: problem(413, 'payload-too-large', 'the request is larger than 32 MiB') },
  { cause: 'not-for-chat', model: problem(404, 'path-not-served', 'this model serves /v1/embeddings, /v1/models; not /v1/chat/completions') },
  { cause: 'context-exceeded', model: engine(400, { code: 400, type: 'exceed_context_size_error', message: 'too long', n_prompt_tokens: 5_120, n_ctx: 4_096 }) },
  { cause: 'engine-error', model: engine(500, { code: 500, message: 'failed to decode the batch' }) },
  { cause: 'other-device', model: { status: 200, body: '', device: 'dev_00000000000000000000000000000000' } },
  { cause: 'broken-off', model: { status: 200, type: 'text/event-stream', body: 'data: {"choices":[{"delta":{"content":"The allowlist names the"}}]}\n\n' } },
];

/** Prepares the browser: where the page comes from, and what the browser permits. */
export async function prepare(page: Page, fake: Fake, { from, permission, webkit = false, model }: Played): Promise<void> {
  await page.route(MODEL, (route) => answered(route, model));
  if (permission) {
    await page.addInitScript((state) => {
      Object.defineProperty(navigator, 'permissions', { configurable: true, value: { query: () => Promise.resolve({ state }) } });
    }, permission);
  }
  if (webkit) await page.addInitScript(() => Object.assign(globalThis, { GestureEvent: class {} }));
  if (!from) return;
  await page.route(`${from}/**`, async (route) => {
    const { pathname, search } = new URL(route.request().url());
    // A stream has no end that could be handed over.
    if (pathname === '/api/v1/events') return;
    // A kept connection that its other end closes at this moment is an answer that fails, as it would be without the detour.
    const response = await route.fetch({ url: `${fake.origin}${pathname}${search}` }).catch(() => null);
    if (!response) return route.abort();
    const listed = pathname === '/api/v1/settings/allowlist' ? { json: { origins: [from], defaults: [] } } : {};
    await route.fulfill({ response, ...listed });
  });
}

/** Asks, and waits until the cause is said. */
export async function ask(page: Page, { backend, cause }: Played): Promise<void> {
  await page.locator('#message').fill('Summarise this letter in two sentences.');
  if (backend === 'silent') await page.route('**/api/v1/**', (route) => route.abort());
  else if (backend) {
    await page.route(backend.path, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: backend.change((await response.json()) as never) });
    });
  }
  await page.locator('#message').press('Enter');
  await page.locator(`[data-cause="${cause}"]`).waitFor({ timeout: 10_000 });
}

async function answered(route: Route, model: Played['model']): Promise<void> {
  if (model === 'silent') return route.abort();
  // What asks without CORS is let through: the port answers.
  if (model === 'refuses') return route.request().method() === 'GET' ? route.fulfill({ body: '{}' }) : route.abort();
  const { status, body, type = 'application/json', device } = model;
  // Only the question is answered by another device: the page would not ask it otherwise.
  const headers = { ...CORS, ...(device && route.request().method() === 'POST' ? { 'link-device': device, 'access-control-expose-headers': 'link-device' } : {}) };
  return route.fulfill({ status, contentType: type, headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
}
