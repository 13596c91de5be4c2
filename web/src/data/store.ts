// What the pages show: devices, deployments, models and commands, loaded once and kept true by the event stream.

import { signal, type Signal } from '@preact/signals';

import { kindsOf } from './allowed';
import { ask, GET } from './client';
import { lookForNewer } from './edition';
import { followers } from './followers';
import { forgetPerson } from './person';
import { passes, pauseAfter, persist, retrying } from './retry';
import { Rows } from './rows';
import { beginAnew, check, nameOf } from './session';
import { followShared, type SharedStream } from './sharing';
import type { Change, Message } from './stream';
import type { Command, Deployment, Device, Me, Model, SystemSample } from './types';

const PAGE = 200;
/** How long the first load waits for the stream, in milliseconds: what changes between the two would be missed. */
const STREAM_PATIENCE = 1_000;

export const devices = new Rows<Device>((device) => device.device_id);
export const deployments = new Rows<Deployment>((deployment) => deployment.deployment_id);
export const models = new Rows<Model>((model) => model.model_id);
export const commands = new Rows<Command>((command) => command.command_id);

/** Who is logged in. */
export const me = signal<Me | null>(null);

/** The state of the event stream. `since`: when it was lost, in Unix milliseconds. */
export const live = signal<{ state: 'connecting' | 'live' } | { state: 'lost'; since: number }>({
  state: 'connecting',
});

export interface Loading {
  /** `refreshing` loads anew what is already shown. */
  state: 'idle' | 'loading' | 'refreshing' | 'ready' | 'failed';
  error: unknown;
  /** Whether what is shown was whole before a load of it failed. */
  whole?: boolean;
}

/** Tells whether every row of a list is loaded. False during the first load, and if it has failed. */
export function isWhole({ state, whole }: Loading): boolean {
  return state === 'ready' || state === 'refreshing' || whole === true;
}

/** Combines the states of several lists: a failed one first, then one that is still loading, else ready. */
export function together(lists: readonly Loading[]): Loading {
  const isKnown = ({ state }: Loading): boolean => state === 'ready' || state === 'refreshing';
  return lists.find(({ state }) => state === 'failed') ?? lists.find((list) => !isKnown(list)) ?? { state: 'ready', error: null };
}

export const devicesLoading = signal<Loading>({ state: 'idle', error: null });
export const deploymentsLoading = signal<Loading>({ state: 'idle', error: null });
export const modelsLoading = signal<Loading>({ state: 'idle', error: null });
/** The cursor of the next page of older commands, or null. */
export const olderCommands = signal<string | null>(null);
export const commandsLoading = signal<Loading>({ state: 'idle', error: null });

/** The account and the user whose things the pages hold. */
let person: string | null = null;
let stream: SharedStream | null = null;
/** Counts starts and stops: a start that is not the newest has no effect. */
let starts = 0;
let watched: string | null = null;

/** Learns who is logged in and begins to follow the account. */
export async function start(): Promise<void> {
  unfollow();
  const started = starts;
  const known = await persist(() => ask(GET('/api/v1/me')), () => started === starts);
  if (!known) return;
  const name = nameOf(known);
  if (person !== null && person !== name) forgetPerson();
  person = name;
  me.value = known;
  stream = followShared(name, heard, kindsOf(known.role));
  setTimeout(() => {
    if (started === starts && devicesLoading.peek().state === 'idle') void reload();
  }, STREAM_PATIENCE);
}

/** Follows anew if the role of the caller has changed: a role decides of which kinds its streams may be. */
async function learnRole(): Promise<void> {
  const before = me.peek();
  const known = await ask(GET('/api/v1/me')).catch(() => null);
  if (!before || !known || me.peek() !== before) return;
  if (nameOf(known) !== nameOf(before)) beginAnew();
  else if (known.role !== before.role) await start();
}

/** Ends following and forgets everything of the person. */
export function stop(): void {
  unfollow();
  person = null;
  forgetPerson();
}

/** Ends following and forgets what was shown. */
function unfollow(): void {
  stream?.close();
  stream = null;
  starts += 1;
  retrying.value = false;
  me.value = null;
  watched = null;
  olderCommands.value = null;
  live.value = { state: 'connecting' };
  for (const rows of [devices, deployments, models, commands]) rows.clear();
  for (const loading of [devicesLoading, deploymentsLoading, modelsLoading, commandsLoading]) {
    loading.value = { state: 'idle', error: null };
  }
  for (const follower of followers) follower.clear();
}

/** The lists that are loaded whole. */
const lists: readonly { loading: Signal<Loading>; load: () => Promise<void> }[] = [
  listOf(devices, devicesLoading, (cursor) =>
    ask(GET('/api/v1/devices', { params: { query: { limit: PAGE, ...cursor } } })),
  ),
  listOf(deployments, deploymentsLoading, (cursor) =>
    ask(GET('/api/v1/deployments', { params: { query: { limit: PAGE, current: true, ...cursor } } })),
  ),
  listOf(models, modelsLoading, (cursor) =>
    ask(GET('/api/v1/models', { params: { query: { limit: PAGE, ...cursor } } })),
  ),
];

/** Loads the newest commands of one device and keeps them true. */
export async function watchCommands(deviceId: string): Promise<void> {
  if (watched !== deviceId) unwatchCommands();
  watched = deviceId;
  await load(commands, commandsLoading, async () => {
    const { items, next_cursor: next } = await commandsOf(deviceId, {});
    olderCommands.value = next ?? null;
    return { items };
  });
}

/** Loads the page of commands before the oldest one that is shown. */
export async function loadOlderCommands(): Promise<void> {
  const [deviceId, cursor] = [watched, olderCommands.peek()];
  if (deviceId === null || cursor === null) return;
  const { items, next_cursor: next } = await commandsOf(deviceId, { cursor });
  // Somebody else, or a load from the beginning, may have come first.
  if (watched !== deviceId || olderCommands.peek() !== cursor) return;
  olderCommands.value = next ?? null;
  for (const item of items) {
    if (!commands.row(item.command_id)) commands.changed(item);
  }
}

function commandsOf(device_id: string, cursor: { cursor?: string }): ReturnType<Page<Command>> {
  return ask(GET('/api/v1/commands', { params: { query: { device_id, limit: 100, ...cursor } } }));
}

/** Forgets the commands of the device whose page was left. */
export function unwatchCommands(): void {
  watched = null;
  commands.clear();
  olderCommands.value = null;
  commandsLoading.value = { state: 'idle', error: null };
}

/** Loads everything anew. What is shown stays until its successor has arrived. */
export async function reload(): Promise<void> {
  for (const follower of followers) follower.reload();
  const commandsToo = watched === null ? null : watchCommands(watched);
  await Promise.all([commandsToo, ...lists.map((list) => list.load())]);
}

/** Loads anew what could not be loaded. */
function reloadFailed(): void {
  for (const { loading, load: again } of lists) {
    if (loading.peek().state === 'failed') void again();
  }
  if (watched !== null && commandsLoading.peek().state === 'failed') void watchCommands(watched);
}

/** Takes a message of the stream. */
export function heard(message: Message): void {
  switch (message.type) {
    case 'ready':
      // After a cut: the backend may have been restarted with another version.
      if (live.peek().state === 'lost') void lookForNewer();
      live.value = { state: 'live' };
      if (message.resumed) reloadFailed();
      else void reload();
      return;
    case 'reset':
      if (live.peek().state === 'lost') void lookForNewer();
      live.value = { state: 'live' };
      void reload();
      return;
    case 'lost':
      if (live.peek().state !== 'lost') live.value = { state: 'lost', since: Date.now() };
      return;
    case 'refused':
      void learnRole();
      return;
    case 'ended':
      void check();
      return;
    case 'change':
      if (message.change.kind === 'member' && message.change.id === me.peek()?.user_id) void learnRole();
      apply(message.change);
  }
}

/** Applies one change to what is shown. */
export function apply(heardOf: Change): void {
  for (const follower of followers) follower.changed(heardOf);
  const { kind, id, change, item } = heardOf;
  const gone = change === 'removed' || item === null;
  switch (kind) {
    case 'device':
      // What goes with a device or a model has no events of its own.
      if (gone && id) deployments.removedWith('device_id', id);
      return settle(devices, id, gone, item as Device);
    case 'system':
      if (id && !gone) devices.patched(id, { system: sampleOf(item) });
      return;
    case 'deployment': {
      // Only the newest deployment of a model on a device is shown.
      const deployment = item as Deployment;
      return settle(deployments, id, gone || !deployment.current, deployment);
    }
    case 'model':
      if (gone && id) deployments.removedWith('model_id', id);
      return settle(models, id, gone, item as Model);
    case 'command': {
      const command = item as Command;
      if (gone || command.device_id === watched) settle(commands, id, gone, command);
      return;
    }
  }
}

/** The sample of a `system` event, which carries the device's field of that name. */
function sampleOf(item: unknown): SystemSample {
  return (item as { system: SystemSample }).system;
}

function settle<T extends object>(rows: Rows<T>, id: string | undefined, gone: boolean, item: T): void {
  if (!gone) rows.changed(item);
  else if (id) rows.removed(id);
}

export type Page<T> = (cursor: { cursor?: string }) => Promise<{ items: T[]; next_cursor?: string | null }>;

function listOf<T extends object>(
  rows: Rows<T>,
  loading: Signal<Loading>,
  page: Page<T>,
): { loading: Signal<Loading>; load: () => Promise<void> } {
  return { loading, load: () => load(rows, loading, page) };
}

/** Loads a list. A failure that passes is followed by further loads, and stays shown until one succeeds. */
export async function load<T extends object>(
  rows: Rows<T>,
  loading: Signal<Loading>,
  page: Page<T>,
  failures = 0,
): Promise<void> {
  const again = isWhole(loading.peek());
  if (failures === 0) loading.value = { state: again ? 'refreshing' : 'loading', error: null };
  const mine = rows.beginLoad();
  try {
    for (let asked: ReturnType<Page<T>> | null = page({}); asked !== null; ) {
      const { items, next_cursor: next }: Awaited<ReturnType<Page<T>>> = await asked;
      if (!rows.isNewest(mine)) return;
      // The backend looks for the next page while this one is taken.
      asked = next ? page({ cursor: next }) : null;
      rows.loaded(items, mine);
    }
    rows.endLoad(mine);
    loading.value = { state: 'ready', error: null };
  } catch (error) {
    if (!rows.isNewest(mine)) return;
    rows.dropLoad(mine);
    loading.value = { state: 'failed', error, whole: again };
    if (!passes(error)) return;
    const retry = (): void => {
      if (rows.isNewest(mine)) void load(rows, loading, page, failures + 1);
    };
    setTimeout(retry, pauseAfter(failures + 1, error));
  }
}
