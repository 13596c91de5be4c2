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
/** Whether it is known what this browser has kept. */
export const opened = signal(false);
/** Why conversations are not kept. */
export const refused = signal<Refusal | null>(null);
/** What stands in the field; it survives a reload of the tab. */
export const draft = signal('');
/** Whether the browser has the draft. */
export const draftKept = signal(true);
/** The latest state of each conversation that the browser has refused to keep. */
const unkept = new Map<string, Conversation>();

let storage: Storage | null = null;

ofPerson(() => {
  storage?.close();
  storage = null;
  opened.value = false;
  conversation.value = fresh(Date.now());
  kept.value = [];
  refused.value = null;
  unkept.clear();
  draft.value = '';
  draftKept.value = true;
  choice.value = '';
});

/** Takes up what this browser has of the user who is logged in: conversations, the draft and the chosen model of the tab. */
export async function openStorage(): Promise<void> {
  const user = me.peek()?.user_id;
  if (!user || storage?.user === user) return;
  const mine = new Storage(user);
  storage = mine;
  draft.value = remembered('draft');
  choice.value = remembered('model');
  await attempt(async (used) => {
    const all = await used.all();
    if (used === storage) kept.value = all;
  });
  if (mine === storage) opened.value = true;
}

export function choose(id: string): void {
  choice.value = id;
  remember('model', id);
}

export function write(words: string): void {
  draft.value = words;
  draftKept.value = remember('draft', words) || words === '';
}

/** Whether something is lost when this page is left: the browser has not kept it. */
export function losesOnLeaving(): boolean {
  return unkept.size > 0 || !draftKept.peek();
}

/** Replaces the conversation by a changed one, and keeps it. */
export function settle(changed: Conversation): void {
  const [first] = changed.turns;
  const title = changed.title === '' && first ? titleOf(first.question) : changed.title;
  const next = { ...changed, title, changed: Date.now() };
  conversation.value = next;
  if (next.turns.length === 0) return;
  kept.value = [next, ...kept.peek().filter(({ id }) => id !== next.id)];
  unkept.set(next.id, next);
  void attempt(keepRest);
}

export async function forget(id: string): Promise<void> {
  kept.value = kept.peek().filter((one) => one.id !== id);
  if (conversation.peek().id === id) conversation.value = fresh(Date.now());
  unkept.delete(id);
  await attempt(async (used) => {
    await used.remove(id);
    await keepRest(used);
  });
}

export async function forgetAll(): Promise<void> {
  kept.value = [];
  unkept.clear();
  conversation.value = fresh(Date.now());
  await attempt((used) => used.clear());
}

/** Keeps what is new, and what was refused before: there may be room by now. One that is too large holds no other up. */
async function keepRest(used: Storage): Promise<void> {
  let refusal: unknown = null;
  for (const id of [...unkept.keys()]) {
    const one = unkept.get(id);
    if (!one) continue;
    try {
      await used.keep(one);
      if (unkept.get(id) === one) unkept.delete(id);
    } catch (error) {
      refusal = error;
    }
  }
  if (refusal !== null) throw refusal;
}

/** Does something with the storage, and says whether the browser refuses, unless the person has left meanwhile. */
async function attempt(work: (used: Storage) => Promise<void>): Promise<void> {
  const used = storage;
  if (!used) return;
  let refusal: Refusal | null = null;
  try {
    await work(used);
  } catch (error) {
    refusal = error instanceof StorageRefused ? error.reason : 'forbidden';
  }
  if (used === storage) refused.value = refusal;
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

/** Returns whether the browser has it. */
function remember(what: Remembered, words: string): boolean {
  try {
    if (words === '') sessionStorage.removeItem(entryOf(what));
    else sessionStorage.setItem(entryOf(what), words);
    return true;
  } catch {
    // It is still on the page.
    return false;
  }
}
