// An upload that is paused, whose page is reloaded, and that goes on: with the same file it arrives whole, and another file of the
// same name is refused in words before a byte of it is sent.

import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import type { Page } from 'playwright-core';

import { settle } from '../browser.ts';
import type { Fake } from '../server.ts';
import type { Model } from '../../src/data/types.ts';
import { worldOf } from '../world.ts';
import { is, served, watched, type Day } from './day.ts';

/** The bytes of a piece, as the pages send them, and of a file of two. */
const PIECE = 8 * 1024 * 1024;
const SIZE = PIECE + 12_345;
const NAME = 'letters.gguf';

/** What the backend has of a file. */
interface Kept {
  origin: string;
  pieces: Buffer[];
  requests: number;
  /** What a piece after the first one waits for, so that there is time for a pause, and whether one does. */
  held: Promise<void>;
  waits: boolean;
  close: () => void;
}

const have = ({ pieces }: Kept): number => pieces.reduce((sum, { length }) => sum + length, 0);

/** A backend that takes pieces in their order. */
async function keeper(model: Model): Promise<Kept> {
  const kept: Kept = { origin: '', pieces: [], requests: 0, held: Promise.resolve(), waits: false, close: () => undefined };
  const server = createServer((request, response) => void take(kept, model, request, response));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  kept.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  kept.close = () => {
    server.close();
    server.closeAllConnections();
  };
  return kept;
}

async function take(kept: Kept, model: Model, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'HEAD') {
    response.writeHead(200, { 'upload-offset': String(have(kept)) }).end();
    return;
  }
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  kept.requests += 1;
  if (Number(request.headers['upload-offset']) !== have(kept)) {
    response.writeHead(409, { 'content-type': 'application/problem+json' }).end(JSON.stringify({ status: 409, code: 'upload-offset', detail: 'resume elsewhere' }));
    return;
  }
  kept.waits = kept.pieces.length > 0;
  if (kept.waits) await kept.held;
  // What was cut is not kept.
  if (request.socket.destroyed) return;
  kept.pieces.push(Buffer.concat(parts));
  model.ready = have(kept) === SIZE && createHash('sha256').update(Buffer.concat(kept.pieces)).digest('hex') === model.sha256;
  response.writeHead(200, { 'content-type': 'application/json', 'upload-offset': String(have(kept)) }).end(JSON.stringify(model));
}

/** Adds a model by its file, and pauses while its second piece is on the way. */
async function begun(page: Page, fake: Fake, model: Model, kept: Kept, file: string): Promise<void> {
  await page.route('**/api/v1/models', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    Object.assign(model, route.request().postDataJSON());
    fake.world.models.push(model);
    return route.fulfill({ status: 201, json: model });
  });
  await page.route('**/api/v1/models/*/content', (route) => route.continue({ url: kept.origin }));
  await page.goto(`${fake.origin}/models?open=add`);
  await settle(page);
  let go: () => void = () => undefined;
  kept.held = new Promise((resolve) => (go = resolve));
  await page.getByLabel('Name', { exact: true }).fill('letters');
  await page.getByLabel('Model file').setInputFiles(file);
  await page.getByRole('button', { name: 'Check and upload' }).click();
  const row = page.locator('.catalogue-row', { hasText: NAME });
  for (let tries = 0; tries < 200 && !kept.waits; tries += 1) await page.waitForTimeout(50);
  await row.getByRole('button', { name: /^Pause/ }).click();
  await row.getByText('Paused at').waitFor();
  await page.waitForTimeout(200);
  go();
}

/** Chooses a file in the dialog that resumes the upload, and returns what is said against it. */
async function choose(page: Page, file: string): Promise<string> {
  const dialog = page.getByRole('dialog');
  if ((await dialog.count()) === 0) await page.getByRole('button', { name: /^Resume upload/ }).click();
  await dialog.getByLabel('Model file').setInputFiles(file);
  await dialog.getByRole('button', { name: 'Resume' }).click();
  const said = dialog.getByRole('alert').filter({ hasText: /./ });
  await Promise.race([said.waitFor({ timeout: 10_000 }), dialog.waitFor({ state: 'detached', timeout: 10_000 })]).catch(() => undefined);
  return (await dialog.count()) === 0 ? '' : ((await said.textContent().catch(() => null)) ?? 'nothing');
}

/** Waits until the model is there, and tells what came in its place if it is another one. */
async function arrived(page: Page, kept: Kept, content: Buffer): Promise<string | null> {
  await page.locator('.catalogue-row', { hasText: NAME }).getByText('Ready').waitFor({ timeout: 10_000 }).catch(() => undefined);
  const came = Buffer.concat(kept.pieces);
  const shown = await page.locator('.catalogue-row', { hasText: NAME }).innerText();
  return came.equals(content) && shown.includes('Ready') ? null : `${came.length} of ${content.length} bytes, ${came.equals(content.subarray(0, came.length)) ? 'the right ones' : 'of another file'}: ${shown}`;
}

const reloaded: Day = (browser, check) =>
  prepared(async (fake, folder, model, kept) => {
    const { page, unhandled } = await watched(browser);
    const content = contentOf(1);
    const changed = Buffer.from(content);
    changed[SIZE - 5] = (changed[SIZE - 5] ?? 0) ^ 1;
    const [file, other, shorter] = [join(folder, NAME), join(folder, 'other', NAME), join(folder, 'shorter', NAME)];
    await writeFile(file, content);
    await Promise.all([dirname(other), dirname(shorter)].map((one) => mkdir(one)));
    await writeFile(other, changed);
    await writeFile(shorter, content.subarray(1));
    await begun(page, fake, model, kept, file);
    await page.waitForTimeout(300);
    const before = have(kept);
    check('upload: a pause sends nothing more', is([kept.requests, before], [2, PIECE]));
    await page.reload();
    await settle(page);
    const asked = kept.requests;
    const said = await choose(page, other);
    check('upload after a reload: changed content is refused in words', said.includes('another file: its checksum') ? null : said || 'it was taken');
    check('upload after a reload: nothing of it is sent', is([kept.requests, have(kept)], [asked, before]));
    const short = await choose(page, shorter);
    check('upload after a reload: another size is refused in words', short.includes('another file: its size') ? null : short || 'it was taken');
    check('upload after a reload: the same file is taken', is(await choose(page, file), ''));
    check('upload after a reload: the model arrives whole', await arrived(page, kept, content));
    check('upload: nothing is thrown', unhandled());
    await page.context().close();
  });

/** The file changes on the disk while the upload is paused, and the page stays open. */
const edited: Day = (browser, check) =>
  prepared(async (fake, folder, model, kept) => {
    const { page, unhandled } = await watched(browser);
    const content = contentOf(2);
    const file = join(folder, NAME);
    await writeFile(file, content);
    await begun(page, fake, model, kept, file);
    await page.waitForTimeout(1_100);
    await writeFile(file, contentOf(3));
    const before = have(kept);
    await page.getByRole('button', { name: /^Resume: / }).click();
    const row = page.locator('.catalogue-row', { hasText: NAME });
    await row.getByText('cannot be read any more').waitFor({ timeout: 5_000 }).catch(() => undefined);
    check('upload of a file that changes meanwhile: it is refused in words', is(await row.getByText('cannot be read any more').count(), 1));
    check('upload of a file that changes meanwhile: nothing of it is sent', is(have(kept), before));
    await writeFile(file, content);
    check('upload of a file that changes meanwhile: the right file can be chosen', is(await choose(page, file).catch((error: unknown) => String(error).split('\n')[0]), ''));
    check('upload of a file that changes meanwhile: the model arrives whole', await arrived(page, kept, content));
    check('upload of a file that changes meanwhile: nothing is thrown', unhandled());
    await page.context().close();
  });

function contentOf(seed: number): Buffer {
  const content = Buffer.alloc(SIZE);
  for (let at = 0; at < SIZE; at += 4) content.writeUInt32LE((Math.imul(at + seed, 0x9e3779b1) >>> 0), Math.min(at, SIZE - 4));
  content.write('GGUF');
  return content;
}

/** Runs with files, a model that is not whole, and a backend for it. */
async function prepared(run: (fake: Fake, folder: string, model: Model, kept: Kept) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'link-upload-'));
  const world = worldOf('one');
  const model = { ...(world.models[0] as Model), model_id: 'mdl_letters', ready: false, facts: null };
  const kept = await keeper(model);
  try {
    await served(world, (fake) => run(fake, folder, model, kept));
  } finally {
    kept.close();
    await rm(folder, { recursive: true, force: true });
  }
}

export const UPLOADS: readonly Day[] = [reloaded, edited];
