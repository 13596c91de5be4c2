// Files for models that do not chat: what each kind takes, where it is sent, and what the answers mean.

import { type At, request } from './chat';
import type { Other } from './lines';
import type { Task } from './targets';

export type FileTask = Exclude<Task, 'chat' | Other>;

export interface Label {
  label: string;
  score: number;
}
export interface Segment extends Label {
  start: number;
  end: number;
}

/** What came of one file. */
export type Outcome =
  | { kind: 'transcript'; words: string; segments: { start: number; end: number; words: string }[]; seconds: number | null }
  | { kind: 'image'; labels: Label[] }
  | { kind: 'sound'; segments: Segment[]; shares: Label[]; seconds: number | null };

/** What came of a file, as programs read it. */
export interface Result {
  file: string;
  size_bytes: number;
  model: string;
  task: FileTask;
  outcome: Outcome;
}

/** Returns results as a document that programs read. */
export function resultsAsJson(results: readonly Result[]): string {
  return `${JSON.stringify({ schema: 1, results }, null, 2)}\n`;
}

/** What the picker of the browser offers; the device decides. */
export const ACCEPTS: Readonly<Record<FileTask, string>> = {
  transcribe: '.wav,.flac,.mp3,.ogg,.aif,.aiff,audio/wav,audio/flac,audio/mpeg,audio/ogg,audio/aiff',
  images: '.jpg,.jpeg,.png,.webp,image/jpeg,image/png,image/webp',
  sounds: '.wav,.flac,.mp3,.ogg,audio/wav,audio/flac,audio/mpeg,audio/ogg',
};

const PATHS: Readonly<Record<FileTask, string>> = {
  transcribe: '/v1/audio/transcriptions',
  images: '/v1/images/classifications',
  sounds: '/v1/audio/classifications',
};
const TOP = 5;

/** Sends a file to a model on this computer. */
export async function send(task: FileTask, at: At, alias: string, file: File, signal: AbortSignal): Promise<Outcome> {
  const form = new FormData();
  form.set('model', alias);
  if (task === 'transcribe') form.set('response_format', 'verbose_json');
  if (task === 'images') form.set('top_k', String(TOP));
  form.set('file', file, file.name);
  const response = await request(at, PATHS[task], { body: form, signal }, file.size);
  return outcomeOf(task, (await response.json()) as unknown);
}

/** Reads an answer. Fields that are missing or of another type are left out. */
export function outcomeOf(task: FileTask, answer: unknown): Outcome {
  const document = objectOf(answer);
  switch (task) {
    case 'transcribe': {
      const segments = listOf(document['segments']).map(({ start, end, text }) => ({
        start: numberOf(start), end: numberOf(end), words: wordsOf(text).trim(),
      }));
      return { kind: 'transcript', words: wordsOf(document['text']).trim(), segments, seconds: durationOf(document) };
    }
    case 'images':
      return { kind: 'image', labels: listOf(document['data']).map(labelOf) };
    case 'sounds': {
      const segments = listOf(document['data']).map((one) => ({ ...labelOf(one), start: numberOf(one['start']), end: numberOf(one['end']) }));
      const shares = listOf(document['summary']).map(({ label, share }) => ({ label: wordsOf(label), score: numberOf(share) }));
      return { kind: 'sound', segments, shares, seconds: durationOf(document) };
    }
  }
}

/** Returns a time in a recording, such as `1:05.2`. */
export function timecode(seconds: number): string {
  const tenths = Math.max(0, Math.round(seconds * 10));
  const [hours, minutes] = [Math.floor(tenths / 36_000), Math.floor(tenths / 600) % 60];
  const rest = `${String(Math.floor(tenths / 10) % 60).padStart(2, '0')}.${tenths % 10}`;
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

type Fields = Record<string, unknown>;

function labelOf(one: Fields): Label {
  return { label: wordsOf(one['label']), score: numberOf(one['score']) };
}

function durationOf(document: Fields): number | null {
  return typeof document['duration'] === 'number' ? document['duration'] : null;
}

function objectOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

function wordsOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
