// The state of the workspace: conversations, the chosen model, the answer that is under way, and why one failed.

import { computed, signal } from '@preact/signals';

import { ofPerson } from '../../data/person';
import {
  deployments, deploymentsLoading, devices, devicesLoading, me, models, modelsLoading, type Loading,
} from '../../data/store';
import { fresh, titleOf, type Conversation } from '../../workspace/conversations';
import { Storage, StorageRefused, type Refusal } from '../../workspace/storage';
import { targetsOf, type Target } from '../../workspace/targets';

/** What the storage of the tab has for a user. */
type Remembered = 'draft' | 'model';

/** How far the lists are from which the models to ask follow. Before all are there, a model may look like another. */
export const loading = computed<Loading>(() => {
  const lists = [deploymentsLoading.value, modelsLoading.value, devicesLoading.value];
  const known = (list: Loading): boolean => list.state === 'ready' || list.state === 'refreshing';
  return lists.find(({ state }) => state === 'failed') ?? lists.find((list) => !known(list)) ?? { state: 'ready', error: null };
});

export const targets = computed<Target[]>(() => {
  if (loading.value.state === 'idle' || loading.value.state === 'loading') return [];
  void [deployments.revision.value, models.revision.value, devices.revision.value];
  return targetsOf(
    deployments.all(),
    (id) => models.row(id)?.value,
    (id) => devices.row(id)?.value,
  );
});

/** Which model was chosen, by id. */
export const choice = signal('');
/** The chosen model; unless somebody chose, one that chats and is served. */
export const target = computed<Target | null>(() => {
  const all = targets.value;
  const served = all.filter(({ absent }) => absent === null);
  return all.find(({ id }) => id === choice.value) ?? served.find(({ task }) => task === 'chat') ?? served[0] ?? all[0] ?? null;
});

export const conversation = signal<Conversation>(fresh(Date.now()));
export const kept = signal<readonly Conversation[]>([]);
/** Why conversations are not kept. */
export const refused = signal<Refusal | null>(null);
/** What stands in the field; it survives a reload of the tab. */
export const draft = signal('');

let storage: Storage | null = null;

ofPerson(() => {
  storage?.close();
  storage = null;
  conversation.value = fresh(Date.now());
  kept.value = [];
  refused.value = null;
  draft.value = '';
  choice.value = '';
});

/** Takes up what this browser has of the user who is logged in: conversations, the draft and the chosen model of the tab. */
export async function openStorage(): Promise<void> {
  const user = me.peek()?.user_id;
  if (!user || storage?.user === user) return;
  storage = new Storage(user);
  draft.value = remembered('draft');
  choice.value = remembered('model');
  await attempt(async (opened) => {
    const all = await opened.all();
    if (opened === storage) kept.value = all;
  });
}

export function choose(id: string): void {
  choice.value = id;
  remember('model', id);
}

export function write(words: string): void {
  draft.value = words;
  remember('draft', words);
}

/** Replaces the conversation by a changed one, and keeps it. */
export function settle(changed: Conversation): void {
  const [first] = changed.turns;
  const title = changed.title === '' && first ? titleOf(first.question) : changed.title;
  const next = { ...changed, title, changed: Date.now() };
  conversation.value = next;
  if (next.turns.length === 0) return;
  kept.value = [next, ...kept.peek().filter(({ id }) => id !== next.id)];
  void attempt((opened) => opened.keep(next));
}

export async function forget(id: string): Promise<void> {
  kept.value = kept.peek().filter((one) => one.id !== id);
  if (conversation.peek().id === id) conversation.value = fresh(Date.now());
  await attempt((opened) => opened.remove(id));
}

export async function forgetAll(): Promise<void> {
  kept.value = [];
  conversation.value = fresh(Date.now());
  await attempt((opened) => opened.clear());
}

/** Does something with the storage, and says whether the browser refuses, unless the person has left meanwhile. */
async function attempt(work: (opened: Storage) => Promise<void>): Promise<void> {
  const opened = storage;
  if (!opened) return;
  let refusal: Refusal | null = null;
  try {
    await work(opened);
  } catch (error) {
    refusal = error instanceof StorageRefused ? error.reason : 'forbidden';
  }
  if (opened === storage) refused.value = refusal;
}

/** Two people who use one tab do not find each other's drafts. */
function entryOf(what: Remembered): string {
  return `link.workspace.${what}.${me.peek()?.user_id ?? ''}`;
}

function remembered(what: Remembered): string {
  try {
    return sessionStorage.getItem(entryOf(what)) ?? '';
  } catch {
    return '';
  }
}

function remember(what: Remembered, words: string): void {
  try {
    if (words === '') sessionStorage.removeItem(entryOf(what));
    else sessionStorage.setItem(entryOf(what), words);
  } catch {
    // A draft that cannot be kept is still on the page.
  }
}
