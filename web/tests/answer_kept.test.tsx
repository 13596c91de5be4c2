// How often the browser writes during an answer: for the question and for the whole answer, not for each token.

import { beforeEach, expect, it, vi } from 'vitest';

import { deployments, deploymentsLoading, devices, devicesLoading, models, modelsLoading } from '../src/data/store';
import { ask, running, show } from '../src/pages/workspace/asking';
import { forgetAll, opened } from '../src/pages/workspace/keeping';
import { WorkspacePage } from '../src/pages/workspace/page';
import { conversation, target } from '../src/pages/workspace/state';
import { deployment, device, model } from './fixtures';
import { Memory } from './memory_storage';
import { place, settled } from './placed';

vi.setConfig({ testTimeout: 30_000 });

/** The most writes of an answer: the question, the answer and the chosen model. */
const MOST = 3;

const here = place();
const browser = new Memory();
let keeps = 0;
browser.refuse = (what) => {
  if (what === 'keep') keeps += 1;
};

vi.mock('../src/workspace/storage', async (original) => ({
  ...(await original<typeof import('../src/workspace/storage')>()),
  Storage: (await import('./memory_storage')).storageOf(() => browser),
}));

const event = (document: unknown): string => `data: ${JSON.stringify(document)}\n\n`;
const pieces = (count: number): string[] => Array.from({ length: count }, (_, at) => `word ${at}. `);

/** A model whose answer arrives piece by piece, with time between two pieces to keep something. */
function answers(count: number): void {
  const toBackend = globalThis.fetch;
  vi.stubGlobal('fetch', async (input: Request | string, init?: RequestInit) => {
    const url = typeof input === 'string' ? input : input.url;
    if (!url.startsWith('http://127.0.0.1:8080')) return toBackend(input, init);
    const parts = pieces(count).map((content) => event({ choices: [{ delta: { content } }] }));
    parts.push(event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: count } }), 'data: [DONE]\n\n');
    const encoder = new TextEncoder();
    return new Response(new ReadableStream({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        const part = parts.shift();
        if (part === undefined) controller.close();
        else controller.enqueue(encoder.encode(part));
      },
    }));
  });
}

beforeEach(async () => {
  browser.kept.clear();
  devices.loaded([device('a')]);
  models.loaded([model('a', { plugin: 'language_model' })]);
  deployments.loaded([deployment('a', 'dev_a')]);
  for (const loading of [devicesLoading, modelsLoading, deploymentsLoading]) loading.value = { state: 'ready', error: null };
  here.show(<main><WorkspacePage /></main>);
  await vi.waitFor(() => expect(opened.value).toBe(true));
  await vi.waitFor(() => expect(target.value?.absent).toBeNull());
});

/** Asks in a new conversation, and returns the number of writes until the answer is complete. */
async function writesOf(count: number): Promise<number> {
  answers(count);
  await forgetAll();
  show();
  keeps = 0;
  const entries = vi.spyOn(globalThis.Storage.prototype, 'setItem');
  const before = entries.mock.calls.length;
  let heard = 0;
  ask('Which words?');
  const answer = running.value;
  if (!answer) throw new Error('nothing was asked');
  const hear = answer.hear.bind(answer);
  answer.hear = (piece) => {
    heard += 1;
    hear(piece);
  };
  await settled(`${count} completion tokens`);
  const whole = pieces(count).join('');
  await vi.waitFor(() => expect(browser.kept.get(conversation.value.id)?.turns[0]?.answer).toBe(whole));
  // Pieces that arrive together would share one write.
  expect(heard).toBeGreaterThanOrEqual(count);
  return keeps + entries.mock.calls.length - before;
}

it('does not depend on the number of tokens', async () => {
  const [short, long] = [await writesOf(20), await writesOf(200)];
  expect(short).toBeGreaterThan(0);
  expect(long).toBe(short);
  expect(long).toBeLessThanOrEqual(MOST);
});
