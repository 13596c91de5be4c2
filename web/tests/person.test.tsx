// One tab, and one person after the other: nothing of the first is shown to the second, or done in their name.

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { paletteOpen } from '../src/app/palette';
import { act, pending } from '../src/data/actions';
import { ask, GET } from '../src/data/client';
import { PersonLeft } from '../src/data/person';
import { logIn, logOut, open } from '../src/data/session';
import { me, stop } from '../src/data/store';
import { resumeWith, uploads } from '../src/data/uploads';
import { kept } from '../src/pages/workspace/keeping';
import { announced, sendAll, sent } from '../src/pages/workspace/sending';
import { choice, conversation, draft, target, write } from '../src/pages/workspace/state';
import { failure, notice } from '../src/ui/notices';
import { backend, held, opened, type Backend } from './backend';
import { deployment, device, model } from './fixtures';
import type { Memory } from './memory_storage';

// Before the router reads the address.
vi.hoisted(() => history.replaceState(null, '', '/workspace'));
const databases = vi.hoisted(() => new Map<string, Memory>());

vi.mock('../src/workspace/storage', async (original) => {
  const { Memory: Empty, storageOf } = await import('./memory_storage');
  const memoryOf = (user: string): Memory => databases.get(user) ?? databases.set(user, new Empty()).get(user) as Memory;
  return { ...(await original<typeof import('../src/workspace/storage')>()), Storage: storageOf(memoryOf) };
});

vi.setConfig({ testTimeout: 15_000 });

const person = (id: string, account = id) => ({ user_id: `usr_${id}`, account_id: `acc_${account}`, email: `${id}@example.com`, role: 'owner' });
const [X, Y] = [person('x'), person('y')];
const LOCAL = 'http://127.0.0.1:8080';

let served: Backend;
/** What was asked of the model, and whether the answer was given up. */
let chats: { body: string; signal: AbortSignal }[];

beforeAll(async () => {
  localStorage.clear();
  document.body.innerHTML = '<div id="app"></div>';
  served = backend();
  await import('../src/app/main');
});

beforeEach(async () => {
  await logOut();
  sessionStorage.clear();
  databases.clear();
  chats = [];
  const list = (item: object): [number, unknown] => [200, { items: [item], next_cursor: null }];
  served = backend({
    '/devices': list(device('a')),
    '/models': list(model('a', { plugin: 'language_model' })),
    '/deployments': list(deployment('a', 'dev_a')),
  });
  const toBackend = globalThis.fetch;
  vi.stubGlobal('fetch', async (input: Request | string, init?: RequestInit) => {
    const url = typeof input === 'string' ? input : input.url;
    if (url.includes('/api/v1/events')) return new Response(streamOf('event: ready\ndata: {"resumed":false}\n\n', (input as Request).signal));
    if (!url.startsWith(LOCAL)) return toBackend(input, init);
    const { signal } = init as { signal: AbortSignal };
    chats.push({ body: String(init?.body), signal });
    const words = `data: ${JSON.stringify({ choices: [{ delta: { content: `Answer ${chats.length}. And` } }] })}\n\n`;
    return new Response(streamOf(words, signal));
  });
});
afterAll(() => stop());

/** Returns a stream that says something and then stays open. */
function streamOf(words: string, signal: AbortSignal): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(words));
      signal.addEventListener('abort', () => controller.error(signal.reason));
    },
  });
}

async function enter(who: typeof X): Promise<void> {
  served.answers['/me'] = [200, who];
  served.answers['/session'] = opened(`secret of ${who.user_id}`, who);
  await logIn(who.email, 'x');
  await ready(who);
}

async function ready(who: typeof X): Promise<void> {
  await vi.waitFor(
    () => {
      expect(me.value?.user_id).toBe(who.user_id);
      expect(document.querySelector('#message')).not.toBeNull();
      expect(target.value?.absent).toBeNull();
      // The page takes up what the browser has a moment after it is drawn.
      expect(databases.has(who.user_id)).toBe(true);
    },
    { timeout: 5_000 },
  );
}

async function says(question: string): Promise<void> {
  const field = document.querySelector('#message') as HTMLTextAreaElement;
  field.value = question;
  field.dispatchEvent(new Event('input', { bubbles: true }));
  field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  await vi.waitFor(() => expect(document.body.textContent).toContain(`Answer ${chats.length}.`));
}

/** X has asked something, the answer is under way, and the next question is half written. */
async function chatsOfX(): Promise<void> {
  await enter(X);
  await says('What X asked');
  write('What X types');
}

function expectNothingOfX(): void {
  expect(document.body.textContent).not.toMatch(/What X|Answer 1/);
  expect(document.querySelector<HTMLTextAreaElement>('#message')?.value ?? '').toBe('');
  expect([conversation.value.turns, draft.value]).toEqual([[], '']);
  expect(JSON.stringify(kept.value)).not.toContain('What X');
  expect(JSON.stringify([...(databases.get(Y.user_id)?.kept.values() ?? [])])).not.toContain('What X');
}

describe('conversations, drafts and answers', () => {
  it('stay with a person who logs out, and the next one begins anew', async () => {
    await chatsOfX();
    await logOut();
    expect(chats[0]?.signal.aborted).toBe(true);
    expect([...(databases.get(X.user_id)?.tabs ?? [])]).toEqual([]);
    expectNothingOfX();
    await enter(Y);
    expectNothingOfX();
    await says('What Y asked');
    expect(chats[1]?.body).not.toContain('What X');
    expectNothingOfYs(databases.get(X.user_id)?.kept);
    expect(JSON.stringify([...(databases.get(Y.user_id)?.kept.values() ?? [])])).toContain('What Y asked');
  });

  it('stay with a person whose browser is still busy with them', async () => {
    await enter(X);
    const memory = databases.get(X.user_id) as Memory;
    const waits: (() => void)[] = [];
    memory.wait = () => new Promise((resolve) => waits.push(resolve));
    await says('What X asked');
    await logOut();
    await enter(Y);
    await says('What Y asked');
    memory.wait = async () => undefined;
    for (const each of waits) each();
    await vi.waitFor(() => expect(JSON.stringify([...memory.kept.values()])).toContain('What X asked'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expectNothingOfYs(memory.kept);
  });

  it('stay with a person while another one logs in in another tab', async () => {
    await chatsOfX();
    served.answers['/me'] = [200, Y];
    localStorage.setItem('link.csrf', 'secret of Y');
    const other = new BroadcastChannel('link.session');
    other.postMessage({ did: 'in', who: 'acc_y.usr_y' });
    await vi.waitFor(() => expect(chats[0]?.signal.aborted).toBe(true));
    await ready(Y);
    expectNothingOfX();
    other.close();
  });

  it('wait for a person who comes back', async () => {
    await chatsOfX();
    await logOut();
    await enter(Y);
    await logOut();
    await enter(X);
    // The browser had a database of X before, so that there is one does not tell that it was taken up.
    await vi.waitFor(() => expect([draft.value, choice.value]).toEqual(['What X types', 'mdl_a dev_a']));
    await vi.waitFor(() => expect(kept.value.map(({ turns }) => turns[0]?.question)).toEqual(['What X asked']));
  });

  function expectNothingOfYs(database: unknown): void {
    expect(JSON.stringify([...(database as Map<string, unknown>).values()])).not.toContain('What Y');
  }
});

it('a person who goes to another account in the same tab begins anew there', async () => {
  await chatsOfX();
  const there = person('x', 'other');
  served.answers['/me'] = [200, there];
  served.answers['/session'] = opened('second', there);
  await open({ with: 'invitation', invitation_token: 'lit_x' });
  await vi.waitFor(() => expect(me.value?.account_id).toBe('acc_other'));
  expect(chats[0]?.signal.aborted).toBe(true);
  expect(conversation.value.turns).toEqual([]);
});

describe('what outlives a page', () => {
  it.each<[string, () => void, () => unknown, unknown]>([
    ['the palette', () => (paletteOpen.value = true), () => paletteOpen.value, false],
    ['notices', () => notice('X did this'), () => document.querySelectorAll('.notice').length, 0],
    ['actions', () => (pending.value = new Map([['dpl_a', 'serve']])), () => pending.value.size, 0],
    ['files', () => target.value && sendAll([new File(['x'], 'x.wav')], 'transcribe', target.value), () => sent.value.length, 0],
    ['announcements', () => (announced.value = 'x.wav'), () => announced.value, ''],
    ['uploads', () => (uploads.value = new Map([['mdl_a', { state: 'paused', done: 0, total: 1, error: null }]])), () => uploads.value.size, 0],
  ])('is forgotten: %s', async (_, fill, look, empty) => {
    await enter(X);
    fill();
    await vi.waitFor(() => expect(look()).not.toEqual(empty));
    await logOut();
    await vi.waitFor(() => expect(look()).toEqual(empty));
  });
});

describe('work that is under way', () => {
  it('ends with an answer that is under way, and says nothing to the next person', async () => {
    await enter(X);
    const answer = held<[number, unknown]>();
    served.answers['/keys'] = () => answer.promise;
    const asked = ask(GET('/api/v1/keys'));
    await logOut();
    answer.keep([200, { items: [] }]);
    const error: unknown = await asked.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PersonLeft);
    failure(error);
    expect(document.querySelector('.notice')).toBeNull();
  });

  it('asks nothing in the name of the next person', async () => {
    await enter(X);
    served.answers['/models/mdl_a/serve/dev_a'] = [200, { command_id: 'cmd_1', state: 'sent' }];
    served.answers['/commands/cmd_1'] = [200, { command_id: 'cmd_1', state: 'sent' }];
    const done = act('serve', deployment('a', 'dev_a')).catch((reason: unknown) => reason);
    await vi.waitFor(() => expect(served.to('/commands/cmd_1').length).toBeGreaterThan(0));
    await logOut();
    const asked = served.to('/commands/cmd_1').length;
    await enter(Y);
    expect(await done).toBeInstanceOf(PersonLeft);
    expect(served.to('/commands/cmd_1')).toHaveLength(asked);
  });

  it('uploads nothing in the name of the next person', async () => {
    await enter(X);
    const piece = held<[number, unknown, Record<string, string>]>();
    served.answers['/models/mdl_a/content'] = ({ method }) => (method === 'HEAD' ? [200, null, { 'upload-offset': '0' }] : piece.promise);
    await resumeWith(model('a', { size_bytes: 4 }), new File(['1234'], 'x.gguf'));
    await vi.waitFor(() => expect(served.to('/models/mdl_a/content')).toHaveLength(2));
    await logOut();
    await enter(Y);
    piece.keep([200, {}, { 'upload-offset': '2' }]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(served.to('/models/mdl_a/content')).toHaveLength(2);
    expect(uploads.value.size).toBe(0);
  });
});
