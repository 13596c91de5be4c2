// What two tabs have made of one conversation, joined: no turn is lost, unless one of them has taken it out. Pure.

import type { Sampling } from './chat';
import type { Conversation, Turn } from './conversations';

/**
 * Joins this tab's state of a conversation with what the browser has by now. `base` is the state of the browser from which this
 * tab's was made, if there was one. A turn that only one side has changed is what that side made of it. A turn that one side has
 * taken out is gone, unless the other side has changed it, or this tab still holds it: its answer is held, or its question is
 * being edited. Returns `mine` itself if nothing is new.
 */
export function joined(
  base: Conversation | null, mine: Conversation, theirs: Conversation, held: ReadonlySet<string>,
): Conversation {
  const turns = turnsOf(base?.turns ?? [], mine.turns, theirs.turns, held);
  const chosen = <T>(of: (one: Conversation) => T): T => (base && of(base) === of(mine) ? of(theirs) : of(mine));
  const sampling: Sampling = {
    temperature: chosen((one) => one.sampling.temperature),
    top_p: chosen((one) => one.sampling.top_p),
    max_tokens: chosen((one) => one.sampling.max_tokens),
  };
  const next: Conversation = {
    ...mine,
    turns,
    title: chosen(({ title }) => title),
    system: chosen(({ system }) => system),
    sampling: same(sampling, mine.sampling) ? mine.sampling : sampling,
    changed: Math.max(mine.changed, theirs.changed),
  };
  const isMine = turns.length === mine.turns.length && turns.every((turn, at) => turn === mine.turns[at]);
  const settled = (['title', 'system', 'sampling', 'changed'] as const).every((name) => next[name] === mine[name]);
  return isMine && settled ? mine : next;
}

/** Joins turns, in the order of the browser. What is new on both sides is what the browser has first. */
function turnsOf(base: readonly Turn[], mine: readonly Turn[], theirs: readonly Turn[], held: ReadonlySet<string>): Turn[] {
  const [before, here, there] = [byId(base), byId(mine), byId(theirs)];
  const joint = theirs.flatMap((turn) => {
    const [own, old] = [here.get(turn.id), before.get(turn.id)];
    if (!own) return old && same(old, turn) ? [] : [turn];
    return old && same(old, own) && !same(own, turn) ? [turn] : [own];
  });
  let at = 0;
  for (const own of mine) {
    if (there.has(own.id)) {
      const isNext = joint[at]?.id === own.id;
      at = isNext ? at + 1 : joint.findIndex(({ id }) => id === own.id) + 1;
      continue;
    }
    const old = before.get(own.id);
    if (old && same(old, own) && !held.has(own.id)) continue;
    for (let next = joint[at]; next && !here.has(next.id); next = joint[at]) at += 1;
    joint.splice(at, 0, own);
    at += 1;
  }
  return joint;
}

function byId(turns: readonly Turn[]): Map<string, Turn> {
  return new Map(turns.map((turn) => [turn.id, turn]));
}

/** Compares by value: what comes out of the storage is a copy. */
function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  const [ours, others] = [Object.entries(one), new Map(Object.entries(other))];
  return ours.length === others.size && ours.every(([name, value]) => others.has(name) && same(value, others.get(name)));
}
