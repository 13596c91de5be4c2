// Two tabs of one person, each with its own state of the pages, on one browser: each shows what the other one does, none writes over
// what it has not seen, and what was deleted stays deleted.

import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { Conversation, Turn } from '../src/workspace/conversations';
import { backend } from './backend';
import { Memory } from './memory_storage';

let browser: Memory;

vi.mock('../src/workspace/storage', async (original) => ({
  ...(await original<typeof import('../src/workspace/storage')>()),
  Storage: (await import('./memory_storage')).storageOf(() => browser),
}));

const turn = (id: string, state: Turn['state'] = 'complete'): Turn => ({
  id, question: id, answer: state === 'asked' ? '' : 'Yes.', thought: '', figures: null, model: 'm', state,
});
const talk = (id: string, ...turns: string[]): Conversation => ({
  id, title: id, created: 1, changed: 1, system: '', sampling: { temperature: null, top_p: null, max_tokens: null }, turns: turns.map((one) => turn(one)),
});

interface Tab {
  left: number;
  open: (id: string) => void;
  ask: (id: string) => void;
  edit: (id: string) => void;
  /** Asks anew in the place of the last turn. */
  instead: (id: string) => void;
  answered: (id: string) => void;
  forget: (id: string) => Promise<void>;
  forgetAll: () => Promise<void>;
  shown: () => string[];
  listed: () => string[];
  losesOnLeaving: () => boolean;
}

/** Opens the workspace in a new tab: the modules have a state of their own in each. */
async function tab(): Promise<Tab> {
  vi.resetModules();
  const { me } = await import('../src/data/store');
  const keeping = await import('../src/pages/workspace/keeping');
  const { conversation } = await import('../src/pages/workspace/state');
  me.value = { user_id: 'usr_1', account_id: 'acc_1', email: 'owner@example.com', role: 'owner' };
  const shownTurns = (): Turn[] => conversation.value.turns;
  const asked = new Map<string, Conversation>();
  const opened: Tab = {
    left: 0,
    open: (id) => (conversation.value = keeping.kept.value.find((one) => one.id === id) ?? talk(id)),
    ask: (id) => {
      keeping.awaited.add(id);
      keeping.settle({ ...conversation.value, turns: [...shownTurns(), turn(id, 'asked')] });
      asked.set(id, conversation.value);
    },
    edit: (id) => void keeping.edited.add(id),
    instead: (id) => keeping.settle({ ...conversation.value, turns: [...shownTurns().slice(0, -1), turn(id)] }),
    answered: (id) => {
      keeping.awaited.delete(id);
      keeping.revise(asked.get(id) ?? conversation.value, (latest) => ({ ...latest, turns: latest.turns.map((one) => (one.id === id ? turn(id) : one)) }));
    },
    forget: keeping.forget,
    forgetAll: keeping.forgetAll,
    shown: () => shownTurns().map(({ id, state }) => (state === 'asked' ? `${id}?` : id)),
    listed: () => keeping.kept.value.map(({ id }) => id),
    losesOnLeaving: keeping.losesOnLeaving,
  };
  await keeping.openStorage(() => (opened.left += 1));
  return opened;
}

const kept = (id: string): string[] | undefined => browser.kept.get(id)?.turns.map((one) => one.id);
const quiet = async (): Promise<void> => {
  for (let tick = 0; tick < 40; tick += 1) await new Promise((resolve) => setTimeout(resolve, 0));
};

let one: Tab;
let two: Tab;

beforeEach(async () => {
  backend({});
  browser = new Memory();
  browser.kept.set('c', talk('c', 'a'));
  [one, two] = [await tab(), await tab()];
  for (const each of [one, two]) each.open('c');
});
afterEach(() => vi.restoreAllMocks());

it('show the turns of each other, in the list and where the conversation is open', async () => {
  one.ask('b');
  await quiet();
  expect(two.shown()).toEqual(['a', 'b?']);
  one.answered('b');
  await quiet();
  expect([two.shown(), kept('c')]).toEqual([['a', 'b'], ['a', 'b']]);
  one.open('d');
  one.ask('elsewhere');
  await quiet();
  expect([two.listed(), two.shown()]).toEqual([['d', 'c'], ['a', 'b']]);
});

it('lose no question although both ask at once, and no answer that is on its way', async () => {
  one.ask('b');
  two.ask('x');
  await quiet();
  for (const each of [one, two]) expect(each.shown().toSorted()).toEqual(['a', 'b?', 'x?']);
  two.answered('x');
  one.answered('b');
  await quiet();
  for (const turns of [one.shown(), two.shown(), kept('c')]) expect(turns?.toSorted()).toEqual(['a', 'b', 'x']);
});

it.each(['one', 'two'])('do not bring back what %s has deleted, although an answer was on its way', async (name) => {
  one.ask('b');
  await quiet();
  await (name === 'one' ? one : two).forget('c');
  expect([one.left, two.left, one.listed(), two.listed()]).toEqual([...(name === 'one' ? [0, 1] : [1, 0]), [], []]);
  one.answered('b');
  await quiet();
  expect([kept('c'), one.listed(), two.listed()]).toEqual([undefined, [], []]);
});

it('delete what one of them keeps while the other one deletes it', async () => {
  const late: (() => void)[] = [];
  browser.deliver = (work) => void late.push(work);
  const deleting = two.forget('c');
  one.ask('b');
  await deleting;
  await quiet();
  for (let work = late.shift(); work; work = late.shift()) work();
  await quiet();
  expect([kept('c'), one.listed(), two.listed()]).toEqual([undefined, [], []]);
});

it('delete what a tab had no time to remove before it was closed', async () => {
  browser.wait = () => new Promise(() => undefined);
  void two.forget('c');
  expect(two.losesOnLeaving()).toBe(true);
  [...browser.tabs][1]?.close();
  browser.wait = async () => undefined;
  await quiet();
  expect([kept('c'), one.listed()]).toEqual([undefined, []]);
});

it('delete what one of them has kept before it heard, although the other one is closed by then', async () => {
  const late: (() => void)[] = [];
  browser.deliver = (work) => void late.push(work);
  await two.forget('c');
  one.ask('b');
  await quiet();
  expect(kept('c')).toEqual(['a', 'b']);
  [...browser.tabs][1]?.close();
  for (const work of late) work();
  await quiet();
  expect([kept('c'), one.listed()]).toEqual([undefined, []]);
});

it('remove again what a tab has kept that had not heard of it, wherever it is shown by now', async () => {
  browser.deliver = () => undefined;
  await two.forget('c');
  one.ask('b');
  await quiet();
  const late = await tab();
  expect([kept('c'), late.listed()]).toEqual([['a', 'b'], ['c']]);
  browser.deliver = (work) => work();
  one.answered('b');
  await quiet();
  expect([kept('c'), one.listed(), two.listed(), late.listed()]).toEqual([undefined, [], [], []]);
});

it('remove what the browser has refused to remove, as soon as it lets them', async () => {
  const { StorageRefused } = await import('../src/workspace/storage');
  browser.refuse = () => {
    throw new StorageRefused('forbidden', null);
  };
  await one.forget('c');
  expect([kept('c'), one.losesOnLeaving(), two.listed()]).toEqual([['a'], true, []]);
  browser.refuse = () => undefined;
  one.open('d');
  one.ask('new');
  await quiet();
  expect([kept('c'), one.losesOnLeaving(), two.listed()]).toEqual([undefined, false, ['d']]);
});

it.each(['waits', 'edits'])('take nothing from a tab that %s', async (does) => {
  one.ask('b');
  if (does === 'edits') {
    one.answered('b');
    one.edit('b');
  }
  await quiet();
  two.instead('x');
  await quiet();
  const b = does === 'edits' ? 'b' : 'b?';
  for (const turns of [one.shown(), two.shown()]) expect(turns).toEqual(['a', 'x', b]);
  expect(kept('c')).toEqual(['a', 'x', 'b']);
});

it('delete everything of the browser, also what one of them has not seen', async () => {
  browser.deliver = () => undefined;
  one.open('d');
  one.ask('new');
  await quiet();
  browser.deliver = (work) => work();
  await two.forgetAll();
  await quiet();
  expect([[...browser.kept], one.listed(), two.listed(), one.left]).toEqual([[], [], [], 1]);
});

it('lose nothing that another tab does while the first one loads', async () => {
  const waits: (() => void)[] = [];
  browser.wait = () => new Promise((resolve) => waits.push(resolve));
  const third = tab();
  await vi.waitFor(() => expect(waits).toHaveLength(1));
  browser.wait = async () => undefined;
  two.ask('b');
  two.answered('b');
  await quiet();
  for (const each of waits) each();
  const late = await third;
  await quiet();
  late.open('c');
  expect(late.shown()).toEqual(['a', 'b']);
});

it('do not bring back what is deleted while the first one loads', async () => {
  const waits: (() => void)[] = [];
  browser.wait = () => new Promise((resolve) => waits.push(resolve));
  const third = tab();
  await vi.waitFor(() => expect(waits).toHaveLength(1));
  browser.wait = async () => undefined;
  await two.forget('c');
  for (const each of waits) each();
  expect([(await third).listed(), kept('c')]).toEqual([[], undefined]);
});

it('keep what the browser has refused, with what the other tab has kept meanwhile', async () => {
  const { StorageRefused } = await import('../src/workspace/storage');
  browser.refuse = () => {
    throw new StorageRefused('full', null);
  };
  one.ask('b');
  one.answered('b');
  await quiet();
  expect([one.losesOnLeaving(), kept('c')]).toEqual([true, ['a']]);
  browser.refuse = () => undefined;
  two.ask('x');
  await quiet();
  expect([one.losesOnLeaving(), kept('c')?.toSorted()]).toEqual([false, ['a', 'b', 'x']]);
  expect(two.shown().toSorted()).toEqual(['a', 'b', 'x?']);
});

/** Numbers that are the same for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

it.each([1, 2, 3, 4, 5, 6, 7, 8])('end alike after any schedule, with every question (%i)', async (seed) => {
  const below = numbers(seed);
  const late: (() => void)[] = [];
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, below(3)));
  browser.wait = pause;
  browser.deliver = (work) => void late.push(work);
  const asked: string[] = [];
  for (let step = 0; step < 40; step += 1) {
    const each = below(2) === 0 ? one : two;
    const name = `${each === one ? 'one' : 'two'}-${step}`;
    const open = asked.filter((id) => id.startsWith(name.slice(0, 4)));
    const last = open.at(-1);
    if (below(3) > 0) {
      each.ask(name);
      asked.push(name);
    } else if (last) each.answered(last);
    if (below(3) === 0) late.shift()?.();
    if (below(2) === 0) await pause();
  }
  for (let round = 0; round < 6; round += 1) {
    await quiet();
    for (let work = late.shift(); work; work = late.shift()) work();
  }
  browser.wait = async () => undefined;
  await quiet();
  const wanted = ['a', ...asked].toSorted();
  expect(kept('c')?.toSorted()).toEqual(wanted);
  for (const each of [one, two]) expect(each.shown().map((id) => id.replace('?', '')).toSorted()).toEqual(wanted);
  expect(one.shown()).toEqual(two.shown());
});

it.each([1, 2, 3, 4, 5, 6, 7, 8])('end without a conversation that one of them deletes at any time (%i)', async (seed) => {
  const below = numbers(seed);
  const late: (() => void)[] = [];
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, below(3)));
  browser.wait = pause;
  browser.deliver = (work) => void late.push(work);
  browser.kept.set('other', talk('other', 'stays'));
  const deletes = below(30);
  const deleting: Promise<void>[] = [];
  for (let step = 0; step < 30; step += 1) {
    const each = below(2) === 0 ? one : two;
    if (step === deletes) deleting.push(each.forget('c'));
    const name = `${each === one ? 'one' : 'two'}-${step}`;
    each.ask(name);
    if (below(2) === 0) each.answered(name);
    if (below(3) === 0) late.shift()?.();
    if (below(2) === 0) await pause();
  }
  await Promise.all(deleting);
  for (let round = 0; round < 6; round += 1) {
    await quiet();
    for (let work = late.shift(); work; work = late.shift()) work();
  }
  browser.wait = async () => undefined;
  await quiet();
  expect([kept('c'), kept('other')]).toEqual([undefined, ['stays']]);
  for (const each of [one, two]) expect([each.listed().includes('c'), each.losesOnLeaving()]).toEqual([false, false]);
});
