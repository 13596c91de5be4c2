// The state of the workspace: conversations, the chosen model, the answer that is under way, and why one failed.

import { computed, signal } from '@preact/signals';

import {
  deployments, deploymentsLoading, devices, devicesLoading, me, models, modelsLoading, type Loading,
} from '../../data/store';
import { fresh, titleOf, type Conversation } from '../../workspace/conversations';
import { Storage, StorageRefused, type Refusal } from '../../workspace/storage';
import { targetsOf, type Target } from '../../workspace/targets';

const DRAFT = 'link.workspace.draft';
const CHOSEN = 'link.workspace.model';

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
export const choice = signal(remembered(CHOSEN));
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
export const draft = signal(remembered(DRAFT));

let storage: Storage | null = null;

/** Opens the conversations of the user who is logged in. */
export async function openStorage(): Promise<void> {
  const user = me.peek()?.user_id;
  if (!user) return;
  storage = new Storage(user);
  try {
    kept.value = await storage.all();
  } catch (error) {
    refuse(error);
  }
}

export function choose(id: string): void {
  choice.value = id;
  remember(CHOSEN, id);
}

export function write(words: string): void {
  draft.value = words;
  remember(DRAFT, words);
}

/** Replaces the conversation by a changed one, and keeps it. */
export function settle(changed: Conversation): void {
  const [first] = changed.turns;
  const title = changed.title === '' && first ? titleOf(first.question) : changed.title;
  const next = { ...changed, title, changed: Date.now() };
  conversation.value = next;
  if (next.turns.length === 0) return;
  kept.value = [next, ...kept.peek().filter(({ id }) => id !== next.id)];
  storage?.keep(next).then(() => (refused.value = null), refuse);
}

export async function forget(id: string): Promise<void> {
  kept.value = kept.peek().filter((one) => one.id !== id);
  if (conversation.peek().id === id) conversation.value = fresh(Date.now());
  await storage?.remove(id).catch(refuse);
}

export async function forgetAll(): Promise<void> {
  kept.value = [];
  conversation.value = fresh(Date.now());
  await storage?.clear().catch(refuse);
}

function refuse(error: unknown): void {
  refused.value = error instanceof StorageRefused ? error.reason : 'forbidden';
}

function remembered(name: string): string {
  try {
    return sessionStorage.getItem(name) ?? '';
  } catch {
    return '';
  }
}

function remember(name: string, words: string): void {
  try {
    if (words === '') sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, words);
  } catch {
    // A draft that cannot be kept is still on the page.
  }
}
