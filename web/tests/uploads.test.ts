// Uploads: whatever is cut, refused, paused or reloaded, the file arrives once and whole, and another file never does.

import { createHash } from 'node:crypto';

import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { models } from '../src/data/store';
import { addFile, forget, goOn, OtherFile, pause, resumeWith, uploads } from '../src/data/uploads';
import { model, numbers } from './fixtures';

const SIZE = 20 * 1024 * 1024 + 12_345;
const CONTENT = new Uint8Array(SIZE).map((_, index) => (index * 131 + (index >>> 10)) & 255);
CONTENT.set(new TextEncoder().encode('GGUF'));
const SHA256 = createHash('sha256').update(CONTENT).digest('hex');
const file = (content: Uint8Array<ArrayBuffer> = CONTENT): File => new File([content], 'llama.gguf');

let stored: Uint8Array[];
let heads: number;
let created: Record<string, unknown> | null;
/** What becomes of each piece: all of it is kept, a part of it, or it is refused. */
let fate: (at: number, length: number) => number | Response;

const have = (): number => stored.reduce((sum, { length }) => sum + length, 0);
const whole = (): string => createHash('sha256').update(Buffer.concat(stored)).digest('hex');
const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response => new Response(JSON.stringify(body), { status, headers });

beforeEach(() => {
  sessionStorage.setItem('link.refresh-token', 'r');
  stored = [];
  heads = 0;
  created = null;
  fate = (_, length) => length;
  models.clear();
  vi.stubGlobal('fetch', async (input: Request | string, init?: RequestInit) => {
    const request = input instanceof Request ? input : new Request(new URL(input, location.href), init);
    const { pathname } = new URL(request.url);
    if (pathname.endsWith('/auth/refresh')) return json({ access_token: 'a', refresh_token: 'r', expires_in: 900, token_type: 'Bearer' });
    if (request.method === 'POST') {
      created = (await request.json()) as Record<string, unknown>;
      return json(model('1', { ready: false, sha256: SHA256, size_bytes: SIZE }), 201);
    }
    if (request.method === 'HEAD') {
      heads += 1;
      return new Response(null, { headers: { 'upload-offset': String(have()) } });
    }
    const at = Number(request.headers.get('upload-offset'));
    const bytes = new Uint8Array(await request.arrayBuffer());
    if (at !== have()) return json({ status: 409, code: 'upload-offset', detail: 'resume elsewhere' }, 409);
    const kept = fate(at, bytes.length);
    if (kept instanceof Response) return kept;
    stored.push(bytes.subarray(0, kept));
    return json(model('1', { ready: have() === SIZE, sha256: SHA256, size_bytes: SIZE }), 200, { 'upload-offset': String(have()) });
  });
});
afterEach(() => {
  forget('mdl_1');
  vi.useRealTimers();
});

const never = new AbortController().signal;
const add = (): Promise<unknown> => addFile({ name: 'llama', shared: false }, file(), () => undefined, never);
const arrived = async (): Promise<void> => {
  await vi.waitFor(() => expect(models.row('mdl_1')?.value.ready).toBe(true), { timeout: 20_000 });
  expect(whole()).toBe(SHA256);
  expect(uploads.value.size).toBe(0);
};

it('announces size and checksum, and sends the file in pieces', async () => {
  await add();
  expect(created).toMatchObject({ name: 'llama', file_name: 'llama.gguf', size_bytes: SIZE, sha256: SHA256 });
  await arrived();
  expect(stored.length).toBe(3);
}, 30_000);

it('announces nothing that is called a model and is none', async () => {
  const page = new File(['<!doctype html><title>404</title>'], 'llama.GGUF');
  await expect(addFile({ name: 'llama', shared: false }, page, () => undefined, never)).rejects.toThrow('This file is no model');
  expect([created, uploads.value.size]).toEqual([null, 0]);
});

it('goes on from where the backend is after cuts, refusals that pass, and pieces that were kept in part', async () => {
  const random = numbers(11);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true, advanceTimeDelta: 2_000 });
  fate = (_, length) => {
    const lot = random();
    if (lot < 0.25) throw new TypeError('the network is gone');
    if (lot < 0.4) return json({ status: 503, detail: 'overloaded' }, 503);
    return lot < 0.7 ? Math.ceil(length / 3) : length;
  };
  await add();
  await arrived();
  expect(heads).toBeGreaterThan(1);
}, 60_000);

it('sends larger pieces to a store that keeps only whole parts', async () => {
  fate = (at, length) => (at + length === SIZE ? length : Math.floor(length / (12 * 1024 * 1024)) * 12 * 1024 * 1024);
  await add();
  await arrived();
}, 30_000);

it('is asked about before its page is left, also while it is paused', async () => {
  const leaves = (): boolean => dispatchEvent(new Event('beforeunload', { cancelable: true }));
  expect(leaves()).toBe(true);
  const hashing: boolean[] = [];
  fate = (at, length) => {
    if (at > 0) pause('mdl_1');
    return length;
  };
  await addFile({ name: 'llama', shared: false }, file(), () => hashing.push(leaves()), never);
  expect(hashing.length).toBeGreaterThan(0);
  expect(hashing.some(Boolean)).toBe(false);
  expect(leaves()).toBe(false);
  await vi.waitFor(() => expect(uploads.value.get('mdl_1')?.state).toBe('paused'));
  expect(leaves()).toBe(false);
  fate = (_, length) => length;
  goOn('mdl_1');
  await arrived();
  expect(leaves()).toBe(true);
}, 30_000);

it('is asked about no more once its model was removed by somebody else', async () => {
  fate = () => json({ status: 404, code: 'unknown-model', detail: 'there is no such model' }, 404);
  await add();
  await vi.waitFor(() => expect(uploads.value.get('mdl_1')?.state).toBe('failed'));
  models.removed('mdl_1');
  expect(dispatchEvent(new Event('beforeunload', { cancelable: true }))).toBe(true);
});

it('is paused, and goes on from there', async () => {
  fate = (at, length) => {
    if (at > 0 && stored.length === 1) pause('mdl_1');
    return length;
  };
  await add();
  await vi.waitFor(() => expect(uploads.value.get('mdl_1')?.state).toBe('paused'));
  const before = have();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(have()).toBe(before);
  expect(before).toBeLessThan(SIZE);
  fate = (_, length) => length;
  goOn('mdl_1');
  await arrived();
}, 30_000);

it('resumes after a reload only with the same file', async () => {
  stored = [CONTENT.subarray(0, 1_000_000)];
  const begun = model('1', { ready: false, sha256: SHA256, size_bytes: SIZE });
  await expect(resumeWith(begun, file(CONTENT.slice(1)))).rejects.toThrow(OtherFile);
  const changed = CONTENT.slice();
  changed[5] = (changed[5] ?? 0) ^ 1;
  await expect(resumeWith(begun, file(changed))).rejects.toThrow('checksum is not the announced one');
  expect(have()).toBe(1_000_000);
  expect(uploads.value.size).toBe(0);
  await resumeWith(begun, file());
  await arrived();
}, 30_000);

it('stops with the reason when the backend refuses the file for good', async () => {
  fate = () => json({ status: 507, code: 'quota', detail: 'the disk of the backend is full' }, 422);
  await add();
  await vi.waitFor(() => expect(uploads.value.get('mdl_1')?.state).toBe('failed'));
  expect((uploads.value.get('mdl_1')?.error as Error).message).toBe('The disk of the backend is full.');
}, 30_000);

it('is chosen anew after its file has changed on the disk', async () => {
  const begun = model('1', { ready: false, sha256: SHA256, size_bytes: SIZE });
  const gone = file();
  Object.defineProperty(gone, 'slice', { value: () => ({ arrayBuffer: () => Promise.reject(new DOMException('changed', 'NotReadableError')) }) });
  await resumeWith({ ...begun, sha256: null }, gone);
  await vi.waitFor(() => expect(uploads.value.get('mdl_1')?.state).toBe('failed'));
  expect(uploads.value.get('mdl_1')?.error).toBeInstanceOf(OtherFile);
  await resumeWith(begun, file());
  await arrived();
}, 30_000);

it('computes nothing more once the dialog is closed', async () => {
  const stop = new AbortController();
  const told = vi.fn(() => stop.abort());
  await expect(addFile({ name: 'llama', shared: false }, file(), told, stop.signal)).rejects.toThrow();
  expect(told).toHaveBeenCalledTimes(1);
  expect(created).toBeNull();
});
