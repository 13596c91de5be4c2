// What the pages of the operator show besides devices, deployments and models: the summary, the repairs, the operations.

import { signal } from '@preact/signals';

import { ask, GET } from './client';
import { type Follower, followers } from './followers';
import { Kept } from './kept';
import { ofPerson } from './person';
import type { Loading } from './store';
import { passes, pauseAfter } from './retry';
import type { Command, Operation, Summary } from './types';

const PAGE = 200;
/** The newest repairs that are loaded besides all that have not ended, in pages. */
const NEWEST_PAGES = 50;
const REPAIR = 'REPAIR_SERVING';
const OPEN = 'open ';
/** How many of the newest commands are shown. */
export const RECENT = 12;

/** The operations of the account; the backend keeps the newest hundred. */
export const operations = new Kept<Operation>({
  kind: 'operation',
  idOf: ({ operation_id }) => operation_id,
  page: (cursor) => ask(GET('/api/v1/operations', { params: { query: { limit: PAGE, ...cursor } } })),
});

/** Whether there are older repairs than those that are loaded. */
export const olderRepairs = signal(false);
ofPerson(() => (olderRepairs.value = false));

/** The repair commands: all that have not ended, and the newest ten thousand. */
export const repairs = new Kept<Command>({
  kind: 'command',
  idOf: ({ command_id }) => command_id,
  wanted: isRepair,
  page: repairsPage,
});

async function repairsPage({ cursor }: { cursor?: string }): Promise<{ items: Command[]; next_cursor: string | null }> {
  // The place in the list of open repairs, or the number of a page of the newest ones and the place in them.
  if (cursor === undefined || cursor.startsWith(OPEN)) {
    const at = cursor === undefined ? {} : { cursor: cursor.slice(OPEN.length) };
    const { items, next_cursor: next } = await repairsAt({ open: true, ...at });
    return { items, next_cursor: next ? OPEN + next : '1 ' };
  }
  const space = cursor.indexOf(' ');
  const number = Number(cursor.slice(0, space));
  const place = cursor.slice(space + 1);
  const { items, next_cursor: next } = await repairsAt(place === '' ? {} : { cursor: place });
  const more = next && number < NEWEST_PAGES;
  if (!more) olderRepairs.value = Boolean(next);
  return { items, next_cursor: more ? `${number + 1} ${next}` : null };
}

function repairsAt(place: { open?: boolean; cursor?: string }): Promise<{ items: Command[]; next_cursor?: string | null }> {
  return ask(GET('/api/v1/commands', { params: { query: { type: REPAIR, limit: PAGE, ...place } } }));
}

function isRepair({ type }: Command): boolean {
  return type === REPAIR;
}

/** The newest commands of all kinds: what has happened last. */
export const recent = new Kept<Command>({
  kind: 'command',
  idOf: ({ command_id }) => command_id,
  page: async () => {
    const { items } = await ask(GET('/api/v1/commands', { params: { query: { limit: RECENT } } }));
    return { items };
  },
});

/** All counts of the account. */
export const summary = signal<Summary | null>(null);
export const summaryLoading = signal<Loading>({ state: 'idle', error: null });

let summaryLoad = 0;
let summaryWatchers = 0;
const summaryFollower: Follower = {
  changed: ({ kind, item }) => {
    if (kind === 'summary' && item !== null) takeSummary(item as Summary);
  },
  reload: () => void loadSummary(),
  clear: clearSummary,
};

/** Begins to follow the summary; what it returns ends that. */
export function watchSummary(): () => void {
  summaryWatchers += 1;
  if (summaryWatchers === 1) followers.add(summaryFollower);
  void loadSummary();
  return () => {
    summaryWatchers -= 1;
    if (summaryWatchers > 0) return;
    followers.delete(summaryFollower);
    clearSummary();
  };
}

function clearSummary(): void {
  summaryLoad += 1;
  summary.value = null;
  summaryLoading.value = { state: 'idle', error: null };
}

export async function loadSummary(failures = 0): Promise<void> {
  const mine = (summaryLoad += 1);
  if (failures === 0) summaryLoading.value = { state: summary.peek() ? 'refreshing' : 'loading', error: null };
  try {
    const loaded = await ask(GET('/api/v1/summary'));
    if (mine === summaryLoad) takeSummary(loaded);
  } catch (error) {
    if (mine !== summaryLoad) return;
    summaryLoading.value = { state: 'failed', error };
    if (!passes(error)) return;
    setTimeout(() => {
      if (mine === summaryLoad) void loadSummary(failures + 1);
    }, pauseAfter(failures + 1, error));
  }
}

/** Takes the newest summary: what a load that is under way brings is older. */
function takeSummary(newest: Summary): void {
  summaryLoad += 1;
  summary.value = newest;
  summaryLoading.value = { state: 'ready', error: null };
}
