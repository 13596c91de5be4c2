// What the pages hold after any schedule of changes, drops, restarts and slow answers is what the backend has: of devices, deployments,
// models, commands and keys alike.

import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { keys } from '../src/data/account';
import { commands, deployments, devices, heard, models, stop, unwatchCommands, watchCommands } from '../src/data/store';
import type { Rows } from '../src/data/rows';
import type { Change } from '../src/data/stream';
import type { Command, Deployment, Device, Key, Model } from '../src/data/types';
import { deployment, device, model, numbers } from './fixtures';

const SCHEDULES = 600;
const STEPS = 60;
/** More than the pause before any repeated load, in milliseconds. */
const LONGEST_PAUSE = 80_000;
/** How many items a page of a list has here, so that lists have several. */
const PAGE = 3;
/** The device whose commands are shown. */
const WATCHED = 'dev_a';

/** A backend whose changes, events and answers come one by one, in the order in which a schedule lets them. */
class World {
  readonly devices = new Map<string, Device>();
  readonly deployments = new Map<string, Deployment>();
  readonly models = new Map<string, Model>();
  readonly commands = new Map<string, Command>();
  readonly keys = new Map<string, Key>();
  /** Events that the page has not heard. */
  readonly events: Change[] = [];
  /** Requests that were not answered. */
  readonly asked: (() => void)[] = [];
  connected = false;
  #count = 0;
  /** How many devices and models of a name are gone: an id never comes back. */
  readonly #gone = new Map<string, number>();

  constructor(readonly random: () => number) {}

  readonly fetch = (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    const read = (): unknown => this.#list(pathname.slice('/api/v1/'.length), searchParams);
    // The backend reads at once, or just before it answers.
    const early = this.random() < 0.5 ? read() : null;
    return new Promise((resolve, reject) => {
      this.asked.push(() => {
        if (this.random() < 0.05) reject(new TypeError('the network was lost'));
        else resolve(new Response(JSON.stringify(early ?? read())));
      });
    });
  };

  #list(kind: string, query: URLSearchParams): unknown {
    const all: Record<string, object[]> = {
      devices: [...this.devices.values()],
      deployments: [...this.deployments.values()].filter(({ current }) => current),
      models: [...this.models.values()],
      commands: [...this.commands.values()].filter(({ device_id }) => device_id === query.get('device_id')),
      keys: [...this.keys.values()],
    };
    const items = all[kind] ?? [];
    if (kind === 'commands') return { items, next_cursor: null };
    // A cursor is a place among the ids, as in the backend: what comes and goes before it moves nothing.
    const placed = items.map((item) => ({ item, id: String(Object.values(item)[0]) })).sort((a, b) => (a.id < b.id ? -1 : 1));
    const rest = placed.filter(({ id }) => id > (query.get('cursor') ?? ''));
    const page = rest.slice(0, PAGE);
    return { items: page.map(({ item }) => item), next_cursor: rest.length > PAGE ? page.at(-1)?.id : null };
  }

  /** Changes something, and says so to whoever is connected. */
  change(): void {
    this.#count += 1;
    const name = this.#one(['b', 'c', 'd', 'e', 'f', 'g', 'h']);
    const [one, other] = [this.#named('dev', name), this.#named('mdl', name)];
    const at = `2026-11-20T00:00:00.${String(this.#count).padStart(3, '0')}Z`;
    switch (Math.floor(this.random() * 9)) {
      case 0:
        return this.#put('device', this.devices, device(one, { last_seen_at: at }));
      case 1:
        return this.#put('device', this.devices, device('a', { last_seen_at: at }));
      case 2: {
        const known = this.devices.get(`dev_${one}`);
        if (!known) return;
        const system = { cpu_percent: this.#count } as NonNullable<Device['system']>;
        this.devices.set(known.device_id, { ...known, system });
        return this.#say({ kind: 'system', id: known.device_id, change: 'changed', item: { system } });
      }
      case 3:
        this.#forgetDeployments(({ device_id }) => device_id === `dev_${one}`);
        this.#gone.set(`dev_${name}`, (this.#gone.get(`dev_${name}`) ?? 0) + 1);
        return this.#remove('device', this.devices, `dev_${one}`);
      case 4:
        return this.#put('model', this.models, model(other, { name: `model ${this.#count}` }));
      case 5:
        this.#forgetDeployments(({ model_id }) => model_id === `mdl_${other}`);
        this.#gone.set(`mdl_${name}`, (this.#gone.get(`mdl_${name}`) ?? 0) + 1);
        return this.#remove('model', this.models, `mdl_${other}`);
      case 6:
        return this.#deploy(other, at);
      case 7:
        return this.#put('command', this.commands, { command_id: `cmd_${name}`, device_id: name < 'e' ? WATCHED : 'dev_b', created_at: at } as unknown as Command);
      default:
        return this.#put('key', this.keys, { key_id: `key_${name}`, name: at } as Key);
    }
  }

  /** A deployment changes, or a newer one of its model on its device takes its place. */
  #deploy(one: string, at: string): void {
    const on = `dev_${this.#named('dev', this.#one(['a', 'b', 'c']))}`;
    if (!this.devices.has(on) || !this.models.has(`mdl_${one}`)) return;
    const before = [...this.deployments.values()].find((known) => known.current && known.device_id === on && known.model_id === `mdl_${one}`);
    if (before && this.random() < 0.5) return this.#put('deployment', this.deployments, { ...before, stale: !before.stale, updated_at: at });
    if (before) this.#put('deployment', this.deployments, { ...before, current: false });
    const id = `dpl_${String(this.#count).padStart(4, '0')}`;
    this.#put('deployment', this.deployments, deployment(one, on, { deployment_id: id, updated_at: at }));
  }

  /** What goes with a device or a model has no events of its own. */
  #forgetDeployments(goes: (one: Deployment) => boolean): void {
    for (const [id, one] of this.deployments) if (goes(one)) this.deployments.delete(id);
  }

  #put<T extends object>(kind: string, all: Map<string, T>, item: T): void {
    const id = String(Object.values(item)[0]);
    all.set(id, item);
    this.#say({ kind, id, change: 'changed', item });
  }

  #remove(kind: string, all: Map<string, object>, id: string): void {
    if (all.delete(id)) this.#say({ kind, id, change: 'removed', item: null });
  }

  #say(change: Change): void {
    this.events.push(change);
  }

  #named(kind: string, name: string): string {
    return `${name}${this.#gone.get(`${kind}_${name}`) ?? ''}`;
  }

  #one<T>(among: readonly T[]): T {
    return among[Math.floor(this.random() * among.length)] as T;
  }

  /** The stream is cut; what is said meanwhile waits, or is lost with the backend. */
  drop(): void {
    this.connected = false;
    heard({ type: 'lost', id: null });
  }

  connect(): void {
    this.connected = true;
    const how = this.random();
    if (how < 0.4) return heard({ type: 'ready', id: null, resumed: true });
    // The backend no longer knows what was said, or was restarted: only what comes after is heard.
    this.events.length = 0;
    if (how < 0.7) heard({ type: 'reset', id: null });
    else heard({ type: 'ready', id: null, resumed: false });
  }

  hear(): void {
    const change = this.connected ? this.events.shift() : undefined;
    if (change) heard({ type: 'change', id: null, change });
  }

  /** Answers a request, not always the oldest one. */
  answer(): void {
    this.asked.splice(Math.floor(this.random() * Math.min(this.asked.length, 4)), 1)[0]?.();
  }
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const shown = <T extends object>(rows: Rows<T>): Record<string, T> => byId(rows.all());
const byId = <T extends object>(items: Iterable<T>): Record<string, T> => Object.fromEntries([...items].map((item) => [String(Object.values(item)[0]), item]));

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => {
  unwatchCommands();
  stop();
  vi.useRealTimers();
});

it.each(Array.from({ length: SCHEDULES }, (_, seed) => seed))('is what the backend has, after schedule %i', async (seed) => {
  const world = new World(numbers(seed));
  vi.stubGlobal('fetch', world.fetch);
  for (let before = 0; before < 20; before += 1) world.change();
  world.events.length = 0;
  const hide = keys.show();
  void watchCommands(WATCHED);
  heard({ type: 'ready', id: null, resumed: false });
  world.connected = true;
  for (let step = 0; step < STEPS; step += 1) {
    if (world.random() < 0.7) world.change();
    const next = world.random();
    if (!world.connected) {
      if (next < 0.3) world.connect();
    } else if (next < 0.08) world.drop();
    else if (next < 0.6) world.hear();
    if (world.random() < 0.5) world.answer();
    await tick();
  }
  // The line holds from here on. A load that the network has failed begins anew, after a pause.
  if (!world.connected) world.connect();
  while (world.events.length > 0) world.hear();
  for (let quiet = 0; quiet < 6; quiet += 1) {
    quiet = world.asked.length > 0 ? 0 : quiet;
    for (const answer of world.asked.splice(0)) answer();
    await tick();
    vi.advanceTimersByTime(LONGEST_PAUSE);
  }
  const current = [...world.deployments.values()].filter((one) => one.current);
  const watched = [...world.commands.values()].filter((one) => one.device_id === WATCHED);
  const held = [devices, deployments, models, commands, keys.rows].map((rows) => shown(rows as Rows<object>));
  hide();
  expect(held).toEqual([world.devices.values(), current, world.models.values(), watched, world.keys.values()].map((items) => byId(items as Iterable<object>)));
});
