// Uploads of model files: the checksum first, then the file in pieces from where the backend has it. A cut is mended by
// itself, a pause lasts as long as the person wants, and after a reload the same file is chosen again.

import { signal } from '@preact/signals';

import { text } from '../text';
import { ask, authorised, POST } from './client';
import { endedUpload } from './ends';
import { ofPerson, PersonLeft } from './person';
import { Problem, problemOf } from './problem';
import { passes, pauseAfter } from './retry';
import { Sha256 } from './sha256';
import { models } from './store';
import type { Model } from './types';

export interface Upload {
  state: 'checking' | 'uploading' | 'waiting' | 'paused' | 'failed';
  done: number;
  total: number;
  error: unknown;
}

/** What is being uploaded from this tab, by model. */
export const uploads = signal<ReadonlyMap<string, Upload>>(new Map());

/** How many bytes are hashed at once: less than a frame's time. */
const HASHED_AT_ONCE = 512 * 1024;
/** How many bytes a request carries. A store that keeps only larger parts gets larger pieces. */
const PIECE = 8 * 1024 * 1024;
const LARGEST_PIECE = 256 * 1024 * 1024;

const files = new Map<string, { file: File; stop: AbortController }>();
/** How many files are being added: they are hashed, and announced to the backend. */
let adding = 0;

/** Whether leaving the page loses work: a file that is being read or sent, or an upload that is paused or has failed and can go on. */
function losesOnLeaving(): boolean {
  return adding > 0 || [...uploads.peek().keys()].some((id) => models.row(id) !== undefined);
}

addEventListener('beforeunload', (event) => {
  if (losesOnLeaving()) event.preventDefault();
});

ofPerson(() => {
  for (const { stop } of files.values()) stop.abort(new PersonLeft());
  files.clear();
  uploads.value = new Map();
});

/** The chosen file is not the one whose upload was begun. */
export class OtherFile extends Error {}

/** The file is not what its name says. */
export class NoModel extends Error {}

async function beginsWith(file: File, letters: string): Promise<boolean> {
  return new TextDecoder('latin1').decode(await bytesOf(file, 0, letters.length)) === letters;
}

/** Returns the checksum of a file, and tells how far it has come. */
export async function checksum(file: Blob, told: (done: number) => void, signal: AbortSignal): Promise<string> {
  const hash = new Sha256();
  for (let at = 0; at < file.size; at += HASHED_AT_ONCE) {
    signal.throwIfAborted();
    hash.update(await bytesOf(file, at, at + HASHED_AT_ONCE));
    told(Math.min(at + HASHED_AT_ONCE, file.size));
  }
  signal.throwIfAborted();
  return hash.hex();
}

/** Adds a model with its file: the model is there as soon as the upload begins. */
export async function addFile(
  wish: { name: string; shared: boolean; plugin?: string },
  file: File,
  told: (done: number) => void,
  signal: AbortSignal,
): Promise<Model> {
  // The backend would refuse it only when it has all of it.
  if (/\.gguf$/i.test(file.name) && !(await beginsWith(file, 'GGUF'))) throw new NoModel(text.catalogue.noGguf);
  adding += 1;
  try {
    const sha256 = await checksum(file, told, signal);
    const body = { ...wish, file_name: file.name, size_bytes: file.size, sha256 };
    const model = await ask(POST('/api/v1/models', { body }));
    models.changed(model);
    begin(model.model_id, file);
    return model;
  } finally {
    adding -= 1;
  }
}

/** Resumes an upload that was begun elsewhere or before a reload, once size and checksum show that the file is the same. */
export async function resumeWith(model: Model, file: File): Promise<void> {
  const id = model.model_id;
  if (files.has(id) && uploads.peek().get(id)?.state !== 'failed') return;
  if (model.size_bytes && file.size !== model.size_bytes) throw new OtherFile(text.catalogue.otherSize);
  const stop = new AbortController();
  files.set(id, { file, stop });
  try {
    if (model.sha256) {
      const told = (done: number): void => mark(id, { state: 'checking', done, total: file.size, error: null });
      if ((await checksum(file, told, stop.signal)) !== model.sha256) throw new OtherFile(text.catalogue.otherContent);
    }
  } catch (error) {
    files.delete(id);
    mark(id, null);
    throw error;
  }
  files.delete(id);
  begin(id, file);
}

/** Stops sending. What the backend has, it keeps for a day. */
export function pause(id: string): void {
  files.get(id)?.stop.abort();
  const current = uploads.peek().get(id);
  if (current) mark(id, { ...current, state: 'paused', error: null });
}

/** Goes on after a pause or a failure. */
export function goOn(id: string): void {
  const held = files.get(id);
  const current = uploads.peek().get(id);
  if (held && (current?.state === 'paused' || current?.state === 'failed')) begin(id, held.file);
}

/** Forgets an upload, as after the removal of its model. */
export function forget(id: string): void {
  files.get(id)?.stop.abort();
  files.delete(id);
  mark(id, null);
}

function begin(id: string, file: File): void {
  const stop = new AbortController();
  files.set(id, { file, stop });
  mark(id, { state: 'uploading', done: uploads.peek().get(id)?.done ?? 0, total: file.size, error: null });
  void send(id, file, stop.signal);
}

/** Sends a file to its end, whatever is cut on the way, until it is stopped or the backend refuses it. */
async function send(id: string, file: File, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      await sendFrom(id, file, await offsetOf(id, signal), signal, () => (failures = 0));
      if (signal.aborted) return;
      files.delete(id);
      mark(id, null);
      endedUpload.value = { model_id: id, error: null };
      return;
    } catch (error) {
      if (signal.aborted) return;
      const moved = error instanceof Problem && error.code === 'upload-offset';
      const current = uploads.peek().get(id);
      const known = { done: current?.done ?? 0, total: file.size };
      if (!moved && !passes(error)) {
        const why = error instanceof DOMException ? new OtherFile(text.catalogue.unreadable) : error;
        mark(id, { ...known, state: 'failed', error: why });
        endedUpload.value = { model_id: id, error: why };
        return;
      }
      failures += 1;
      mark(id, { ...known, state: 'waiting', error });
      await new Promise((resolve) => setTimeout(resolve, pauseAfter(failures, error)));
    }
  }
}

async function sendFrom(id: string, file: File, offset: number, signal: AbortSignal, came: () => void): Promise<void> {
  let at = offset;
  let piece = PIECE;
  while (at < file.size) {
    signal.throwIfAborted();
    mark(id, { state: 'uploading', done: at, total: file.size, error: null });
    const body = await bytesOf(file, at, at + piece);
    const headers = { 'content-type': 'application/octet-stream', 'upload-offset': String(at) };
    const response = await authorised(new Request(addressOf(id), { method: 'PATCH', headers, body, signal }));
    const words = await response.text();
    signal.throwIfAborted();
    if (!response.ok) throw problemOf(response, words);
    const next = Number(response.headers.get('upload-offset') ?? at + body.length);
    // A store that keeps whole parts only needs a larger piece.
    if (next <= at) piece = Math.min(piece * 2, LARGEST_PIECE);
    else came();
    at = next;
    if (at >= file.size) models.changed(JSON.parse(words) as Model);
  }
}

/** Asks how much of the file the backend has. */
async function offsetOf(id: string, signal: AbortSignal): Promise<number> {
  const response = await authorised(new Request(addressOf(id), { method: 'HEAD', signal }));
  if (!response.ok) throw problemOf(response, '');
  return Number(response.headers.get('upload-offset') ?? 0);
}

function addressOf(id: string): string {
  return `${location.origin}/api/v1/models/${encodeURIComponent(id)}/content`;
}

async function bytesOf(file: Blob, from: number, to: number): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await file.slice(from, to).arrayBuffer());
}

function mark(id: string, upload: Upload | null): void {
  const next = new Map(uploads.peek());
  if (upload === null) next.delete(id);
  else next.set(id, upload);
  uploads.value = next;
}
