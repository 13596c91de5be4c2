// Sends files to a model that transcribes or classifies, one after the other, and keeps what came of each.

import { signal } from '@preact/signals';

import { ofPerson, staying } from '../../data/person';
import { text } from '../../text';
import { newId } from '../../workspace/conversations';
import { send, type FileTask, type Outcome } from '../../workspace/files';
import { RequestFailure } from '../../workspace/stream';
import type { Target } from '../../workspace/targets';
import { clear, explain } from './failures';

export interface Sent {
  id: string;
  file: File;
  task: FileTask;
  model: string;
  state: 'waiting' | 'working' | 'done' | 'failed' | 'stopped';
  outcome: Outcome | null;
}

export const sent = signal<readonly Sent[]>([]);
export const announced = signal('');

/** How many results are kept on the page. */
const MOST = 50;
let queue: Promise<void> = Promise.resolve();
/** What ends the file that is being sent. */
let stopping: { id: string; control: AbortController } | null = null;

ofPerson(() => {
  sent.value = [];
  announced.value = '';
  queue = Promise.resolve();
});

export function sendAll(files: Iterable<File>, task: FileTask, target: Target): void {
  clear();
  for (const file of files) {
    const one: Sent = { id: newId(), file, task, model: target.name, state: 'waiting', outcome: null };
    sent.value = [one, ...sent.peek()].slice(0, MOST);
    queue = queue.then(() => deliver(one.id, target));
  }
}

/** Sends a file that is on the page again. */
export function sendAgain(id: string, target: Target): void {
  clear();
  change(id, { state: 'waiting', outcome: null });
  queue = queue.then(() => deliver(id, target));
}

/** Stops a file that waits or is being sent. */
export function stopSending(id: string): void {
  change(id, { state: 'stopped' });
  if (stopping?.id === id) stopping.control.abort();
}

/** Takes a file and what came of it off the page. */
export function forgetSent(id: string): void {
  sent.value = sent.peek().filter((one) => one.id !== id);
}

/** Tells whether work, or a result that is kept nowhere else, is lost with the page. */
export function losesSent(): boolean {
  return sent.peek().some(({ state }) => state === 'waiting' || state === 'working' || state === 'done');
}

async function deliver(id: string, target: Target): Promise<void> {
  const one = sent.peek().find((known) => known.id === id);
  if (one?.state !== 'waiting') return;
  change(id, { state: 'working', outcome: null });
  const here = staying();
  const control = new AbortController();
  stopping = { id, control };
  try {
    const outcome = await send(one.task, target.port, target.alias, one.file, AbortSignal.any([here, control.signal]));
    here.throwIfAborted();
    if (control.signal.aborted) return;
    change(id, { state: 'done', outcome });
    announced.value = text.dropped.done(one.file.name);
  } catch (error) {
    if (here.aborted || control.signal.aborted) return;
    change(id, { state: 'failed' });
    const seen = error instanceof RequestFailure ? error.seen : { kind: 'engine' as const, engine: true, detail: text.dropped.unreadable };
    await explain(target, seen, (now) => {
      change(id, { state: 'waiting' });
      return deliver(id, now);
    });
  } finally {
    if (stopping?.control === control) stopping = null;
  }
}

function change(id: string, part: Partial<Sent>): void {
  sent.value = sent.peek().map((one) => (one.id === id ? { ...one, ...part } : one));
}
