// A backend that serves the built pages as the real one does, and answers reads with a made-up account. Nothing can be
// changed. With `broken`, reads answer 500, as when its database is away. With `held`, some reads wait for their answers. With `hostile`,
// what others may write tries to be markup.

import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { components } from '../src/data/schema.d.ts';
import type { InstallInfo } from '../src/data/types.ts';
import { metricsOf, usageOf } from './figures.ts';
import { hostile, hostileProblem } from './hostile.ts';
import { NOW, type World } from './world.ts';

/** The most things of a list in one answer. */
const PAGE = 200;
const WEB = new URL('..', import.meta.url);
const BUILT = new URL('dist/app/', WEB);
const BUNDLED = new URL('../backend/web/assets/', WEB);
const RUST = new URL('../backend/src/api/web/built.rs', WEB);
const TYPES: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css', '.html': 'text/html', '.svg': 'image/svg+xml' };
/** The secret of the session, which the pages find in their storage. */
export const SECRET = 'a-secret-of-this-origin';

export const ME = { user_id: 'usr_1', account_id: 'acc_1', account_name: 'city-clinic', email: 'ada@example.com', role: 'owner' } as const;

export interface Fake {
  origin: string;
  /** Where the built pages are. */
  pages: URL;
  /** What the pages see from now on. */
  world: World;
  /** The reads that fail. */
  broken: RegExp | null;
  /** The reads whose answers are held. */
  held: RegExp | null;
  /** Give the answers that are held. */
  waiting: (() => void)[];
  /** Whether everything that others may write is hostile. */
  hostile: boolean;
  /** Whether the pages have their policy, which stops what has become a script all the same. */
  policy: boolean;
  /** The event streams that are read. */
  streams: Set<ServerResponse>;
  /** Whether the pages that are served have another script than those that were served before, as after an upgrade. */
  upgraded: boolean;
  close: () => Promise<void>;
}

/** Begins to serve. `built` is the folder of the pages, if they are not those of this checkout. */
export async function serve(world: World, built?: string): Promise<Fake> {
  const policies = await policiesOf();
  const fake: Fake = { origin: '', pages: built ? pathToFileURL(`${built}/`) : BUILT, world, broken: null, held: null, waiting: [], hostile: false, policy: true, streams: new Set(), upgraded: false, close: () => Promise.resolve() };
  const server: Server = createServer((request, response) => {
    // The backend's clock is that of the pictures: the pages tell times by it.
    response.setHeader('date', new Date(NOW).toUTCString());
    answer(fake, policies, request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  fake.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  fake.close = () => new Promise((closed) => {
    server.close(() => closed());
    server.closeAllConnections();
  });
  return fake;
}

/** Reads the policies of the pages from the backend's source: pictures are taken under what people get. */
async function policiesOf(): Promise<{ usual: string; workspace: string }> {
  const source = await readFile(RUST, 'utf8');
  const named = (name: string): string => {
    const found = new RegExp(`const ${name}: &str = "([^"]*)"`).exec(source)?.[1];
    if (!found) throw new Error(`built.rs has no policy ${name}`);
    return found.replace(/\\\s+/g, '');
  };
  return { usual: named('POLICY'), workspace: named('WORKSPACE_POLICY') };
}

async function answer(fake: Fake, policies: { usual: string; workspace: string }, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', fake.origin);
  const { pathname: path } = url;
  if (path.startsWith('/api/v1/')) {
    api(fake, url, request, response, await bodyOf(request));
  } else if (path.startsWith('/app/') || path.startsWith('/assets/')) {
    const [base, name] = path.startsWith('/app/') ? [fake.pages, path.slice(5)] : [BUNDLED, path.slice(8)];
    response.setHeader('content-type', TYPES[extname(name)] ?? 'application/octet-stream');
    response.end(await readFile(new URL(name, base)));
  } else {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    if (fake.policy) response.setHeader('content-security-policy', path === '/workspace' ? policies.workspace : policies.usual);
    const page = await readFile(new URL('index.html', fake.pages), 'utf8');
    response.end(fake.upgraded ? page.replace(/index-[\w-]+\.js/, 'index-another1.js') : page);
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function api(fake: Fake, url: URL, request: IncomingMessage, response: ServerResponse, body: string): void {
  const path = url.pathname.slice('/api/v1'.length);
  const say = (status: number, document: unknown): void => {
    response.writeHead(status, { 'content-type': status < 400 ? 'application/json' : 'application/problem+json' });
    response.end(JSON.stringify(fake.hostile && status >= 400 ? hostileProblem(document as object) : document));
  };
  if (request.headers['x-link-csrf'] !== SECRET && path !== '/session') {
    say(401, { status: 401, title: 'Unauthorized', code: 'unauthenticated', detail: 'the session has ended' });
  } else if (fake.held?.test(path)) {
    fake.waiting.push(() => api(fake, url, request, response, body));
  } else if (path === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('id: 1\nevent: ready\ndata: {"resumed":false}\n\n');
    fake.streams.add(response);
    response.on('close', () => fake.streams.delete(response));
  } else if (path === '/me') {
    say(200, ME);
  } else if (request.method !== 'GET') {
    const written = writes(path, fake.world, body);
    if (written) say(200, written);
    else say(403, { status: 403, title: 'Forbidden', code: 'forbidden', detail: 'nothing can be changed in a picture' });
  } else if (fake.broken?.test(path)) {
    say(500, { status: 500, title: 'Internal Server Error', code: 'internal', detail: 'the backend has an internal error', hint: 'Retry in a minute.', request_id: 'req_5f3a' });
  } else {
    const found = read(fake, path, url.searchParams);
    if (found === undefined) say(404, { status: 404, title: 'Not Found', code: 'not-found', detail: 'there is nothing at this path' });
    else say(200, fake.hostile ? hostile(found) : found);
  }
}

/** Answers the writes that only read: what an operation would touch, what asks to log in as the person, and secrets that nobody has. */
function writes(path: string, { devices, keys, tokens, invitations }: World, body: string): unknown {
  if (path === '/tokens') return { token: `lpt_${'x7'.repeat(24)}`, info: tokens.at(-1) };
  if (path === '/members/invitations') return { invitation_token: `lit_${'x7'.repeat(16)}`, info: invitations.at(-1) };
  if (path === '/keys') return { key: `lrk_${'x7'.repeat(16)}`, info: keys.at(-1) };
  if (path === '/operations') {
    const asked = JSON.parse(body) as components['schemas']['CreateOperation'];
    const touched = asked.devices ? devices.filter(({ device_id: id }) => asked.devices?.includes(id)) : devices;
    const first = touched.slice(0, 20).map(({ device_id, name, online }) => ({ device_id, name, online }));
    return { devices: touched.length, first, work: asked.work };
  }
  if (path !== '/auth/device/inquire') return undefined;
  const times = { created_at: new Date(NOW - 20_000).toISOString(), expires_at: new Date(NOW + 580_000).toISOString() };
  return { user_code: 'BCDF-GHJK', client_name: 'link on ada-laptop', address: '192.0.2.9', ...times };
}

function read({ world, origin }: Fake, path: string, query: URLSearchParams): unknown {
  const [, kind = '', id, part] = path.split('/');
  // A page of a list, as long as the backend's longest.
  const whole = (items: readonly unknown[]): { items: readonly unknown[]; next_cursor: string | null } => {
    const from = Number(query.get('cursor') ?? 0);
    return { items: items.slice(from, from + PAGE), next_cursor: from + PAGE < items.length ? String(from + PAGE) : null };
  };
  const filtered = <T extends { device_id: string; model_id?: string | null }>(items: readonly T[]): T[] =>
    items.filter((one) => [['device_id', one.device_id], ['model_id', one.model_id]].every(([name, value]) => !query.has(name as string) || query.get(name as string) === value));
  switch (kind) {
    case 'devices':
      if (!id) return whole(world.devices);
      if (part === 'metrics') return metricsOf(world, (query.get('period') ?? '1h') as '1h');
      if (part === 'logs') return whole([...world.logs].reverse());
      return world.devices.find(({ device_id }) => device_id === id);
    case 'models':
      return id ? world.models.find(({ model_id }) => model_id === id) : whole(world.models);
    case 'deployments':
      return id ? world.deployments.find(({ deployment_id }) => deployment_id === id) : whole(filtered(world.deployments));
    case 'commands': {
      const found = world.commands.find(({ command_id }) => command_id === id);
      if (!id) return whole(filtered(world.commands).filter(({ state, type }) => (query.get('open') !== 'true' || state === 'sent') && type === (query.get('type') ?? type)));
      return part === 'explanation' && found ? explained(found) : found;
    }
    case 'operations':
      if (!id) return whole(world.operations);
      return part === 'devices' ? whole(world.results.filter(({ state }) => state === (query.get('state') ?? state))) : world.operations.find(({ operation_id }) => operation_id === id);
    case 'members':
      return whole(id === 'invitations' ? world.invitations : world.members);
    case 'install':
      return INSTALLER;
    case 'settings':
      // The origin of these pages is listed: what is stale was deployed before.
      return { origins: [...world.origins, origin], defaults: ['http://127.0.0.1:8000'] };
    case 'usage':
      return usageOf(world, query);
    case 'summary':
      return world.summary;
    case 'keys':
    case 'tokens':
    case 'audit':
    case 'sessions':
      return whole(world[kind]);
    default:
      return undefined;
  }
}

/** A release for Linux and Windows. */
const INSTALLER: InstallInfo = {
  backend_url: 'https://link.example.com',
  release: { version: '1.3.0', channel: 'stable' },
  systems: [
    ...['linux', 'macos'].map((system) => ({
      system, shell: 'sh', released: system === 'linux',
      registration_line: 'curl -fsSL https://link.example.com/install.sh | LINK_REGISTRATION_KEY={key} sh',
      fleet_line: 'curl -fsSL https://link.example.com/install.sh | LINK_FLEET_KEY={key} sh',
    })),
    {
      system: 'windows', shell: 'powershell', released: true,
      registration_line: "$env:LINK_REGISTRATION_KEY='{key}'; irm https://link.example.com/install.ps1 | iex",
      fleet_line: "$env:LINK_FLEET_KEY='{key}'; irm https://link.example.com/install.ps1 | iex",
    },
  ],
};

function explained(command: World['commands'][number]): unknown {
  return {
    command, deliveries: 2, device_online: true, device_last_seen_at: new Date(NOW - 20_000).toISOString(),
    stage: command.state === 'sent' ? 'delivered' : 'ended',
    happened: 'the backend has sent the command twice', why: 'the device was away when it was sent first', next: 'nothing: the command has ended',
  };
}
