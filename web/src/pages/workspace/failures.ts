// Why a request failed, and what mends it: after a remedy the same request is sent again by itself, once.

import { signal } from '@preact/signals';

import { noteRefusal } from '../../data/permission';
import { ofPerson } from '../../data/person';
import { messageOf } from '../../data/problem';
import { text } from '../../text';
import { classify, type Cause, type Facts, type FailedRequest, type Remedy } from '../../workspace/causes';
import { gather } from '../../workspace/facts';
import { carryOut } from '../../workspace/remedies';
import type { Target } from '../../workspace/targets';
import { targets } from './state';

export interface Failure {
  cause: Cause;
  facts: Facts;
  target: Target;
  /** Sends the same request again. */
  again: (target: Target) => Promise<void>;
  /** Whether the request is sent again by itself when the model answers again. */
  waits: boolean;
}

export const failed = signal<Failure | null>(null);
/** What a remedy is doing, in words, and whether it is still at it. */
export const remedy = signal({ words: '', busy: false });
/** What the page is doing, for the line below the field. */
export const doing = signal('');

/** Counts what was asked: a diagnosis or a remedy of something older has no effect. */
let asked = 0;
/** Whether the request under way was sent by itself: it does not wait a second time. */
let sentByItself = false;

ofPerson(clear);

/** Forgets the failure that is shown. */
export function clear(): void {
  asked += 1;
  failed.value = null;
  remedy.value = { words: '', busy: false };
  doing.value = '';
}

/** Finds out why a request failed, and shows it with its remedies. */
export async function explain(target: Target, request: FailedRequest, again: Failure['again']): Promise<void> {
  clear();
  const mine = asked;
  const isFirst = !sentByItself;
  doing.value = text.workspace.finding;
  const facts = await gather(target, request);
  if (mine !== asked) return;
  doing.value = '';
  const cause = classify(facts);
  failed.value = { cause, facts, target, again, waits: isFirst && passes(cause, facts) };
}

/** Tells whether a cause goes away without this page: a device comes back, an engine has loaded. */
function passes({ code }: Cause, { device }: Facts): boolean {
  return code === 'device-offline' || code === 'engine-loading' || (code === 'not-serving' && device?.online === false);
}

/** Sends the request again because the model answers again. */
export async function resume(): Promise<void> {
  if (!failed.peek()?.waits) return;
  sentByItself = true;
  try {
    await mend('retry');
  } finally {
    sentByItself = false;
  }
}

/** Carries out a remedy, then sends the same request again. */
export async function mend(action: Remedy): Promise<void> {
  const failure = failed.peek();
  if (!failure || remedy.peek().busy) return;
  const mine = asked;
  const said = (words: string): void => {
    if (mine === asked) remedy.value = { words, busy: true };
  };
  said(text.remedies.again);
  try {
    await carryOut(action, failure.target, said);
  } catch (error) {
    noteRefusal(error);
    if (mine === asked) remedy.value = { words: messageOf(error), busy: false };
    return;
  }
  if (mine !== asked) return;
  clear();
  const now = targets.peek().find(({ id }) => id === failure.target.id) ?? failure.target;
  // What the backend has just said about the port is newer than what the event stream may have brought.
  const { port = now.port } = (action === 'retry' ? failure.facts.deployment : null) ?? {};
  await failure.again({ ...now, port });
}
