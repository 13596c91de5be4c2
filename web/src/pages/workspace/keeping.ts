// Which conversations this browser keeps: all tabs of a person have the same ones. What this tab changes is kept one after the
// other, joined with what other tabs have kept; what was deleted stays deleted, whatever is still on its way.

import { batch, signal } from '@preact/signals';

import { ofPerson } from '../../data/person';
import { me } from '../../data/store';
import { fresh, titleOf, type Conversation } from '../../workspace/conversations';
import { joined } from '../../workspace/joined';
import { Storage, StorageRefused, type News, type Refusal } from '../../workspace/storage';
import { conversation, draftKept, recall } from './state';

/** The conversations, the newest first. */
export const kept = signal<readonly Conversation[]>([]);
/** Whether it is known what this browser has kept. */
export const opened = signal(false);
/** Why conversations are not kept. */
export const refused = signal<Refusal | null>(null);
/** The turn whose answer this tab waits for. No other tab takes the turn out. */
export const awaited = new Set<string>();
/** The turns whose question is being edited in this tab. No other tab takes these turns out. */
export const edited = new Set<string>();

/** What the browser has of each conversation, as far as this tab has seen it. */
const stored = new Map<string, Conversation>();
/** The latest state of each conversation that the browser does not have yet, or refuses to keep. */
const unkept = new Map<string, Conversation>();
/** The conversations that were deleted, here or in another tab. */
const deleted = new Set<string>();
/** The deleted conversations that the browser may still have. Each deletion has a symbol of its own, so that a later one is not
 * taken for done. */
const removing = new Map<string, symbol>();

let storage: Storage | null = null;
/** Shows another conversation in the place of a deleted one. */
let leaveDeleted: () => void = () => undefined;
/** The queue of work on the storage. */
let line: Promise<void> = Promise.resolve();

ofPerson(() => {
  // Changes that the browser does not have yet belong to the person who leaves, so they are sent to the storage now.
  for (const [id, one] of unkept) storage?.keep(one, stored.get(id) ?? null, held()).catch(() => undefined);
  if (removing.size > 0) storage?.remove([...removing.keys()]).catch(() => undefined);
  storage?.close();
  storage = null;
  line = Promise.resolve();
  opened.value = false;
  kept.value = [];
  refused.value = null;
  for (const known of [awaited, edited, stored, unkept, deleted, removing]) known.clear();
});

function held(): ReadonlySet<string> {
  return new Set([...awaited, ...edited]);
}

/**
 * Takes up what this browser has of the user who is logged in: conversations, the draft and the chosen model of the tab. `leave`
 * shows another conversation; it is called when the one that is shown was deleted in another tab.
 */
export async function openStorage(leave: () => void): Promise<void> {
  const user = me.peek()?.user_id;
  if (!user || storage?.user === user) return;
  const mine = new Storage(user, (news) => {
    if (mine === storage) hear(news);
  });
  leaveDeleted = leave;
  storage = mine;
  recall();
  await attempt(async (used) => {
    const all = await used.all();
    if (used === storage) adopt(all);
  });
  if (mine === storage) opened.value = true;
}

/** Whether something is lost when this page is left: the browser has not kept it, or still has what was deleted. */
export function losesOnLeaving(): boolean {
  return unkept.size > 0 || !draftKept.peek() || [...removing.keys()].some((id) => stored.has(id));
}

/** Replaces the conversation that is shown by a changed one, and keeps it. */
export function settle(changed: Conversation): void {
  batch(() => {
    conversation.value = changed;
    keep(changed);
  });
}

/** Whether another tab, or this one, has deleted a conversation. */
export function isDeleted(id: string): boolean {
  return deleted.has(id);
}

/** Changes a conversation, shown or not, and keeps it, unless it was deleted meanwhile. */
export function revise(known: Conversation, change: (latest: Conversation) => Conversation): void {
  if (!deleted.has(known.id)) keep(change(latest(known.id) ?? known));
}

export async function forget(id: string): Promise<void> {
  bury([id]);
  storage?.tell({ deleted: [id] });
  await attempt();
}

/** Deletes all conversations of this browser, also those of which this tab does not know. */
export async function forgetAll(): Promise<void> {
  const mine = [conversation.peek(), ...kept.peek()].map(({ id }) => id);
  bury(mine);
  storage?.tell({ deleted: mine });
  await attempt(async (used) => {
    const all = await used.clear();
    if (used !== storage) return;
    if (all.includes(conversation.peek().id)) leaveDeleted();
    bury(all);
    used.tell({ deleted: all });
  });
}

function latest(id: string): Conversation | undefined {
  const shown = conversation.peek();
  return shown.id === id ? shown : kept.peek().find((one) => one.id === id);
}

function keep(changed: Conversation): void {
  const [first] = changed.turns;
  const title = changed.title === '' && first ? titleOf(first.question) : changed.title;
  const next = { ...changed, title, changed: Date.now() };
  place([next]);
  if (!first) return;
  unkept.set(next.id, next);
  void attempt();
}

/** Puts conversations where they are shown. */
function place(next: readonly Conversation[]): void {
  const shown = next.find(({ id }) => id === conversation.peek().id);
  if (shown) conversation.value = shown;
  const all = new Map([...kept.peek(), ...next.filter(({ turns }) => turns.length > 0)].map((one) => [one.id, one]));
  kept.value = [...all.values()].toSorted((a, b) => b.changed - a.changed);
}

/** Takes up what the browser has by now of conversations. */
function adopt(all: readonly Conversation[]): void {
  const known = all.filter(({ id }) => !deleted.has(id));
  place(known.map((theirs) => {
    const { id, turns } = theirs;
    const mine = latest(id);
    const next = mine ? joined(stored.get(id) ?? null, mine, theirs, held()) : theirs;
    stored.set(id, theirs);
    const there = new Set(turns.map((turn) => turn.id));
    // The other tab has taken out what this one still holds.
    if (unkept.has(id) || next.turns.some((turn) => !there.has(turn.id))) unkept.set(id, next);
    return next;
  }));
}

/** Forgets conversations, for good. */
function bury(ids: readonly string[]): void {
  for (const id of ids) {
    deleted.add(id);
    unkept.delete(id);
    removing.set(id, Symbol());
  }
  kept.value = kept.peek().filter(({ id }) => !deleted.has(id));
  if (deleted.has(conversation.peek().id)) conversation.value = fresh(Date.now());
}

/** Takes up what another tab has told. */
function hear(news: News): void {
  if ('deleted' in news) {
    if (news.deleted.includes(conversation.peek().id)) leaveDeleted();
    // The other tab may be closed before it removes them, and this tab may have kept them again before it heard.
    bury(news.deleted);
    void attempt();
    return;
  }
  const { kept: id } = news;
  if (deleted.has(id)) {
    // The other tab had not heard of it.
    bury([id]);
    storage?.tell({ deleted: [id] });
    void attempt();
    return;
  }
  void attempt(async (used) => {
    const theirs = await used.one(id);
    if (theirs && used === storage) adopt([theirs]);
  });
}

/** Does something with the storage when it is free, then what is still to be done, and says whether the browser refuses. */
function attempt(work: (used: Storage) => Promise<void> = async () => undefined): Promise<void> {
  const used = storage;
  if (!used) return Promise.resolve();
  line = line.then(async () => {
    let refusal: Refusal | null = null;
    for (const step of [work, removeRest, keepRest]) {
      if (used !== storage) return;
      try {
        await step(used);
      } catch (error) {
        refusal = error instanceof StorageRefused ? error.reason : 'forbidden';
      }
    }
    if (used === storage) refused.value = refusal;
  });
  return line;
}

/** Removes what was deleted. What the browser refuses to remove is tried again next time. */
async function removeRest(used: Storage): Promise<void> {
  const now = [...removing];
  if (now.length === 0) return;
  await used.remove(now.map(([id]) => id));
  if (used !== storage) return;
  for (const [id, deletion] of now) {
    stored.delete(id);
    // Another tab may have kept the conversation again meanwhile: then it is removed once more.
    if (removing.get(id) === deletion) removing.delete(id);
  }
}

/** Keeps what is new, and what was refused before: there may be room by now. One that is too large holds no other up. */
async function keepRest(used: Storage): Promise<void> {
  let refusal: unknown = null;
  for (const id of [...unkept.keys()]) {
    if (used !== storage) return;
    const mine = unkept.get(id);
    if (!mine) continue;
    try {
      const now = await used.keep(mine, stored.get(id) ?? null, held());
      if (used === storage) done(mine, now);
    } catch (error) {
      refusal = error;
    }
  }
  if (refusal !== null) throw refusal;
}

/** Notes that the browser has kept a conversation, which another tab may have added to. */
function done(sent: Conversation, now: Conversation): void {
  const { id } = now;
  stored.set(id, now);
  if (deleted.has(id)) return;
  storage?.tell({ kept: id });
  const mine = unkept.get(id);
  if (!mine) return;
  const next = mine === sent ? now : joined(sent, mine, now, held());
  if (mine === sent) unkept.delete(id);
  else unkept.set(id, next);
  if (next !== mine) place([next]);
}
