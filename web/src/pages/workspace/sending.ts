// Sends files to a model that transcribes or classifies, one after the other, and keeps what came of each.

import { signal } from '@preact/signals';

import { ofPerson, staying } from '../../data/person';
import { text } from '../../text';
import { notice } from '../../ui/notices';
import { newId } from '../../workspace/conversations';
import { send, type FileTask, type Outcome, type Result } from '../../workspace/files';
import { RequestFailure } from '../../workspace/stream';
import type { Target } from '../../workspace/targets';
import { clear, explain } from './failures';
import { choose, targets } from './state';

export interface Sent {
  id: string;
  file: File;
  task: FileTask;
  model: string;
  state: 'waiting' | 'working' | 'done' | 'failed' | 'stopped';
  outcome: Outcome | null;
  /** Counts how often it was sent, so that an earlier place in the queue is not taken for a later one. */
  attempt: number;
}

export const sent = signal<readonly Sent[]>([]);
export const announced = signal('');

/** How many files with their results are on the page. None of them makes room for another by itself. */
export const MOST_FILES = 200;
let queue: Promise<void> = Promise.resolve();
/** What ends each file that is being sent. */
const stopping = new Map<string, AbortController>();

ofPerson(() => {
  sent.value = [];
  announced.value = '';
  queue = Promise.resolve();
});

export function sendAll(files: Iterable<File>, task: FileTask, target: Target): void {
  clear();
  // The model stays the chosen one, whatever is learned about it meanwhile.
  choose(target.id);
  const all = [...files];
  const taken = all.slice(0, Math.max(MOST_FILES - sent.peek().length, 0));
  for (const file of taken) {
    const one: Sent = { id: newId(), file, task, model: target.name, state: 'waiting', outcome: null, attempt: 1 };
    sent.value = [one, ...sent.peek()];
    queue = queue.then(() => deliver(one.id, one.attempt, target));
  }
  if (taken.length < all.length) notice(text.dropped.noRoom(all.length - taken.length, MOST_FILES), 'bad');
}

/** Sends a file that is on the page again. */
export function sendAgain(id: string, target: Target): void {
  clear();
  choose(target.id);
  const attempt = renewed(id);
  queue = queue.then(() => deliver(id, attempt, target));
}

/** Begins another attempt, and returns its number. */
function renewed(id: string): number {
  const attempt = (sent.peek().find((one) => one.id === id)?.attempt ?? 0) + 1;
  change(id, { state: 'waiting', outcome: null, attempt });
  return attempt;
}

/** Stops a file that waits or is being sent. */
export function stopSending(id: string): void {
  change(id, { state: 'stopped' });
  stopping.get(id)?.abort();
  const name = sent.peek().find((one) => one.id === id)?.file.name ?? '';
  announced.value = text.dropped.stoppedOf(name);
}

/** Takes files and what came of them off the page. */
export function forgetSent(...ids: string[]): void {
  sent.value = sent.peek().filter((one) => !ids.includes(one.id));
}

/** Returns the files with which nothing happens any more. */
export function ended(): Sent[] {
  return sent.value.filter((one) => !isUnderWay(one));
}

/** Returns what came of files, the first one first. */
export function results(of: readonly Sent[]): Result[] {
  const done = of.flatMap(({ file, model, task, outcome }) => (outcome ? [{ file: file.name, size_bytes: file.size, model, task, outcome }] : []));
  return done.reverse();
}

export function isUnderWay({ state }: Sent): boolean {
  return state === 'waiting' || state === 'working';
}

/** Tells whether work, or a result that is kept nowhere else, is lost with the page. */
export function losesSent(): boolean {
  return sent.peek().some((one) => isUnderWay(one) || one.state === 'done');
}

async function deliver(id: string, attempt: number, target: Target): Promise<void> {
  const one = sent.peek().find((known) => known.id === id);
  if (one?.state !== 'waiting' || one.attempt !== attempt) return;
  // What the file before it has shown: another device answers on the port, and gets no further file.
  if (targets.peek().find(({ id: known }) => known === target.id)?.absent === 'elsewhere') {
    change(id, { state: 'failed' });
    return;
  }
  change(id, { state: 'working', outcome: null });
  const here = staying();
  const control = new AbortController();
  stopping.set(id, control);
  try {
    const outcome = await send(one.task, target, target.alias, one.file, AbortSignal.any([here, control.signal]));
    here.throwIfAborted();
    if (control.signal.aborted) return;
    change(id, { state: 'done', outcome });
    announced.value = text.dropped.done(one.file.name);
  } catch (error) {
    if (here.aborted || control.signal.aborted) return;
    change(id, { state: 'failed' });
    const request = error instanceof RequestFailure ? error.request : { kind: 'engine' as const, engine: true, detail: text.dropped.unreadable };
    await explain(target, request, (now) => deliver(id, renewed(id), now));
  } finally {
    if (stopping.get(id) === control) stopping.delete(id);
  }
}

function change(id: string, part: Partial<Sent>): void {
  sent.value = sent.peek().map((one) => (one.id === id ? { ...one, ...part } : one));
}
