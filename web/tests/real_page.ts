// The data layer of a page outside of a browser: it logs in, loads the lists and follows the event stream, as it does behind the
// pages. `tests/it/history` starts it against a backend that breaks, and asks what it shows.
//
// The first line of the standard input says who logs in where; a line says when the page follows the stream. Each further line asks
// for what is shown, which is answered by one line. The program ends with its input.

import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { effect } from '@preact/signals';
import { JSDOM } from 'jsdom';
import { createServer } from 'vite';

/** What the first line says. */
interface Opening {
  origin: string;
  email: string;
  password: string;
  /** The device whose commands are watched. */
  device_id: string;
  /** Whether something between page and backend answers each list as it did the first time. */
  stale: boolean;
}

const SESSION = '/api/v1/session';
const EVENTS = '/api/v1/events';
/** Which paths are lists that the page loads. */
const LIST = /^\/api\/v1\/(devices|deployments|models|commands)\?/;

const input = createInterface({ input: process.stdin }).on('close', () => process.exit(0));
const lines = input[Symbol.asyncIterator]();
const first = await lines.next();
const opening = JSON.parse(String(first.value)) as Opening;

let cookie = '';
const trouble = { cuts: 0, opened: 0, loaded: 0 };
const kept = new Map<string, string>();

// What a page finds in its browser.
const { window } = new JSDOM('', { url: opening.origin });
const send = fetch;
for (const name of ['document', 'location', 'history', 'localStorage'] as const) {
  Object.defineProperty(globalThis, name, { value: window[name] });
}
Object.assign(globalThis, {
  addEventListener: window.addEventListener.bind(window),
  removeEventListener: window.removeEventListener.bind(window),
  fetch: (asked: Request | string, init?: RequestInit) =>
    throughBrowser(new Request(typeof asked === 'string' ? opening.origin + asked : asked, init)),
});

// The sources are compiled as the build does it.
const sources = await createServer({
  configFile: false,
  root: fileURLToPath(new URL('..', import.meta.url)),
  appType: 'custom',
  logLevel: 'error',
  optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, ws: false, hmr: false, watch: null },
});
const session = (await sources.ssrLoadModule('/src/data/session.ts')) as typeof import('../src/data/session');
const store = (await sources.ssrLoadModule('/src/data/store.ts')) as typeof import('../src/data/store');

// A browser reports what nobody has caught, and goes on.
for (const event of ['unhandledRejection', 'uncaughtException']) {
  process.on(event, (error) => console.error('not caught:', error));
}
await logIn();
await store.start();
void store.watchCommands(opening.device_id);
effect(() => {
  if (store.live.value.state === 'lost') trouble.cuts += 1;
});
await new Promise<void>((live) => effect(() => {
  if (store.live.value.state === 'live') live();
}));
process.stdout.write('live\n');
for await (const _ of { [Symbol.asyncIterator]: () => lines }) process.stdout.write(`${JSON.stringify(shown())}\n`);

/** Logs in, again and again: the way to the backend breaks. */
async function logIn(): Promise<void> {
  for (;;) {
    try {
      await session.logIn(opening.email, opening.password);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function shown(): object {
  return {
    device: store.devices.all(),
    deployment: store.deployments.all(),
    model: store.models.all(),
    command: store.commands.all(),
    trouble,
  };
}

/** Sends a request as a browser does: with the cookie, and with the headers that no script can set. */
async function throughBrowser(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  request.headers.set('origin', opening.origin);
  request.headers.set('sec-fetch-site', 'same-origin');
  if (cookie !== '') request.headers.set('cookie', cookie);
  if (pathname === EVENTS) trouble.opened += 1;
  const list = LIST.test(pathname + search) ? pathname + search : null;
  if (list?.startsWith('/api/v1/models?')) trouble.loaded += 1;
  const known = list === null ? undefined : kept.get(list);
  if (known !== undefined) return new Response(known, { headers: { 'content-type': 'application/json' } });
  const response = await send(request);
  if (list !== null && opening.stale && response.ok) {
    // Only what has come whole is kept.
    response.clone().text().then((words) => kept.set(list, words), () => undefined);
  }
  if (pathname === SESSION) cookie = (response.headers.getSetCookie()[0] ?? cookie).split(';')[0] ?? '';
  return response;
}
