// The state of the workspace: the conversation that is shown, the chosen model, and what is typed. `keeping.ts` keeps conversations.

import { computed, signal } from '@preact/signals';

import { ofPerson } from '../../data/person';
import {
  deployments, deploymentsLoading, devices, devicesLoading, me, models, modelsLoading, together, type Loading,
} from '../../data/store';
import { fresh, type Conversation } from '../../workspace/conversations';
import { answering } from '../../workspace/here';
import { targetsOf, type Target } from '../../workspace/targets';

/** What the storage of the tab has for a user. */
type Remembered = 'draft' | 'model';

/** How far the lists are from which the models to ask follow. Before all are there, a model may look like another. */
export const loading = computed<Loading>(() => together([deploymentsLoading.value, modelsLoading.value, devicesLoading.value]));

export const targets = computed<Target[]>(() => {
  if (loading.value.state === 'idle' || loading.value.state === 'loading') return [];
  void [deployments.revision.value, models.revision.value, devices.revision.value];
  return targetsOf(
    deployments.all(),
    (id) => models.row(id)?.value,
    (id) => devices.row(id)?.value,
    answering.value,
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
/** What stands in the field; it survives a reload of the tab. */
export const draft = signal('');
/** Whether the browser has the draft. */
export const draftKept = signal(true);

ofPerson(() => {
  conversation.value = fresh(Date.now());
  draft.value = '';
  draftKept.value = true;
  choice.value = '';
});

/** Takes up the draft and the chosen model of the tab. */
export function recall(): void {
  draft.value = remembered('draft');
  choice.value = remembered('model');
}

export function choose(id: string): void {
  choice.value = id;
  remember('model', id);
}

export function write(words: string): void {
  draft.value = words;
  draftKept.value = remember('draft', words) || words === '';
}

/** Two people who use one tab do not find each other's drafts. */
function storageKey(entry: Remembered): string {
  return `link.workspace.${entry}.${me.peek()?.user_id ?? ''}`;
}

function remembered(entry: Remembered): string {
  try {
    return sessionStorage.getItem(storageKey(entry)) ?? '';
  } catch {
    return '';
  }
}

/** Returns whether the browser has it. */
function remember(entry: Remembered, words: string): boolean {
  try {
    if (words === '') sessionStorage.removeItem(storageKey(entry));
    else sessionStorage.setItem(storageKey(entry), words);
    return true;
  } catch {
    // It is still on the page.
    return false;
  }
}
