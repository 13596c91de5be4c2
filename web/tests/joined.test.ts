// What two tabs have made of one conversation, joined.

import { expect, it } from 'vitest';

import { fresh, type Conversation, type Turn } from '../src/workspace/conversations';
import { joined } from '../src/workspace/joined';

const NONE = new Set<string>();
const START = { ...fresh(1), id: 'c' };

const turn = (id: string, state: Turn['state'] = 'complete'): Turn => ({
  id, question: id, answer: state === 'asked' ? '' : `of ${id}`, thought: '', figures: { promptTokens: 1, tokens: 2, first: null, seconds: 3 }, model: 'm', state,
});
const talk = (...turns: (string | Turn)[]): Conversation => ({
  ...START, title: 'c', turns: turns.map((one) => (typeof one === 'string' ? turn(one) : one)),
});
const ids = ({ turns }: Conversation): string => turns.map(({ id }) => id).join(' ');

it.each([
  ['what the other tab has added comes first', 'a', 'a mine', 'a theirs', 'a theirs mine'],
  ['what is new in the middle stays there', 'a b', 'a mine b', 'a theirs b', 'a theirs mine b'],
  ['what one has taken out is gone', 'a b c', 'a c', 'a b c theirs', 'a c theirs'],
  ['what the other has taken out is gone', 'a b c', 'a b c mine', 'a c', 'a c mine'],
  ['what both have taken out is gone', 'a b', 'a', 'a', 'a'],
  ['each has asked anew from another turn', 'a b c', 'a mine', 'theirs', 'theirs mine'],
  ['nobody has changed anything', 'a b', 'a b', 'a b', 'a b'],
  ['there is nothing yet', '', 'mine', 'theirs', 'theirs mine'],
])('%s', (_, base, mine, theirs, wanted) => {
  const [old, own, other] = [base, mine, theirs].map((words) => talk(...words.split(' ').filter((id) => id !== '')));
  expect(ids(joined(old as Conversation, own as Conversation, structuredClone(other as Conversation), NONE))).toBe(wanted);
});

it('keeps what one side has answered and the other one has taken out', () => {
  const base = talk('a', turn('b', 'asked'));
  const [without, answered] = [talk('a'), talk('a', 'b')];
  expect(ids(joined(base, answered, without, NONE))).toBe('a b');
  expect(ids(joined(base, without, answered, NONE))).toBe('a b');
});

it('keeps the question whose answer this tab waits for', () => {
  const mine = talk('a', turn('b', 'asked'));
  expect(ids(joined(mine, mine, talk('a', 'theirs'), new Set(['b'])))).toBe('a theirs b');
  expect(ids(joined(mine, mine, talk('a', 'theirs'), NONE))).toBe('a theirs');
});

it('takes the answer of the side that has one', () => {
  const base = talk(turn('a', 'asked'));
  expect(joined(base, talk('a'), base, NONE).turns[0]?.state).toBe('complete');
  expect(joined(base, base, talk('a'), NONE).turns[0]?.state).toBe('complete');
});

it('takes the settings of the side that has changed them, and of this tab if both have', () => {
  const set = (system: string, temperature: number | null = null): Conversation => ({ ...talk('a'), system, sampling: { ...START.sampling, temperature } });
  const base = set('old', 1);
  expect(joined(base, set('old', 0), set('new', 1), NONE)).toMatchObject({ system: 'new', sampling: { temperature: 0 } });
  expect(joined(base, set('mine', 1), set('theirs', 2), NONE)).toMatchObject({ system: 'mine', sampling: { temperature: 2 } });
  const narrower = { ...base, sampling: { ...base.sampling, top_p: 0.5 } };
  expect(joined(base, set('old', 0), narrower, NONE).sampling).toMatchObject({ temperature: 0, top_p: 0.5 });
});

it('is this tab’s own conversation if the other one adds nothing, so that nothing is drawn again', () => {
  const mine = talk('a', 'b');
  expect(joined(talk('a'), mine, structuredClone(talk('a')), NONE)).toBe(mine);
  expect(joined(mine, mine, structuredClone(mine), NONE)).toBe(mine);
});
