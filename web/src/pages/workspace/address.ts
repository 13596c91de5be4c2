// Which conversation is shown and which model is chosen stand in the address: a reload, Back and a kept address lead to them again.

import { batch, effect, untracked } from '@preact/signals';

import { ofPerson } from '../../data/person';
import { text } from '../../text';
import { notice } from '../../ui/notices';
import { change, query } from '../../ui/router';
import { fresh, type Conversation } from '../../workspace/conversations';
import { kept, opened } from './keeping';
import { choice, choose, conversation, loading, target, targets } from './state';

const NAME = 'conversation';
/** The parts of the id of a choice. */
const PLACE = ['model', 'device'] as const;

// The next person does not see the conversation of the one before, or the model.
ofPerson(() => {
  if ([NAME, ...PLACE].some((name) => query.peek().has(name))) change({ [NAME]: null, model: null, device: null }, { replace: true });
});

/** Returns the name of a conversation in the address: one without a question is nothing to come back to. */
function nameOf({ id, turns }: Conversation): string | null {
  return turns.length > 0 ? id : null;
}

/** Shows a conversation, as a step that Back takes back. */
export function turnTo(next: Conversation): void {
  batch(() => {
    conversation.value = next;
    if (query.peek().get(NAME) !== nameOf(next)) change({ [NAME]: nameOf(next) });
  });
}

/** Keeps the address and what is shown together, until what it returns is called. `show` shows another conversation. */
export function followAddress(show: (next: Conversation) => void): () => void {
  let followed: string | null | undefined;
  return effect(() => {
    const wanted = query.value.get(NAME);
    const name = nameOf(conversation.value);
    if (!opened.value) {
      followed = undefined;
      return;
    }
    // At first the address leads, unless somebody was quicker and has asked already.
    const moved = followed === undefined ? name === null : wanted !== followed;
    followed = wanted;
    if (wanted === name) return;
    // A question that was asked, or a conversation that was deleted: the address follows.
    if (!moved) {
      followed = name;
      change({ [NAME]: name }, { replace: true });
      return;
    }
    untracked(() => {
      const found = kept.value.find(({ id }) => id === wanted);
      if (wanted !== null && !found) notice(text.conversations.elsewhere, 'bad');
      show(found ?? fresh(Date.now()));
      if (!found) change({ [NAME]: null }, { replace: true });
    });
  });
}

/** Keeps the address and the chosen model together, until what it returns is called. */
export function followChoice(): () => void {
  let followed: string | null = null;
  return effect(() => {
    const [model, device] = PLACE.map((name) => query.value.get(name));
    const named = model && device && !/\s/.test(model + device) ? `${model} ${device}` : null;
    const isKnown = loading.value.state !== 'ready' || targets.value.some(({ id }) => id === named);
    if (!opened.value) {
      followed = null;
      return;
    }
    const chosen = choice.value;
    if (named !== null && named !== followed) {
      followed = named;
      untracked(() => choose(named));
    } else if (named !== null && !isKnown) {
      const instead = target.peek();
      followed = instead?.id ?? null;
      untracked(() => {
        notice(text.workspace.modelElsewhere, 'bad');
        change({ model: instead?.modelId ?? null, device: instead?.deviceId ?? null }, { replace: true });
        choose(instead?.id ?? '');
      });
    } else if (chosen !== '' && chosen !== named) {
      followed = chosen;
      const [chosenModel = null, chosenDevice = null] = chosen.split(' ');
      untracked(() => change({ model: chosenModel, device: chosenDevice }, { replace: true }));
    }
  });
}
