// The states of the workspace, each without an accessibility violation: no model, one that is not served, an answer that
// grows, stops, fails and comes after a repair, hostile text, and files.

import axe from 'axe-core';
import { render } from 'preact';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { allowOrigin } from '../src/data/allowlist';
import { deployments, deploymentsLoading, devices, devicesLoading, me, models, modelsLoading, stop } from '../src/data/store';
import type { Model } from '../src/data/types';
import { show } from '../src/pages/workspace/asking';
import { awaited, edited, forget, forgetAll, settle } from '../src/pages/workspace/keeping';
import { WorkspacePage } from '../src/pages/workspace/page';
import { MOST_FILES, sent } from '../src/pages/workspace/sending';
import { choose, conversation, draft, targets, write } from '../src/pages/workspace/state';
import { sharesDocument } from '../src/ui/addresses';
import { Notices } from '../src/ui/notices';
import { go } from '../src/ui/router';
import { answering } from '../src/workspace/here';
import { backend, held, type Backend } from './backend';
import { deployment, device, HOSTILE } from './fixtures';
import { spaced } from './spaced';

const LOCAL = 'http://127.0.0.1:8080';
const ORIGIN = location.origin;

// axe looks at whole pages, on a machine that may be busy.
vi.setConfig({ testTimeout: 30_000 });

let root: HTMLElement;
let known: Backend;
/** What the device does with requests; `null` refuses the page as a browser does. */
let answer: ((request: Request) => Promise<Response> | Response) | null;
/** Whether nothing listens on the port. */
let silent: boolean;

const event = (document: unknown): string => `data: ${JSON.stringify(document)}\n\n`;
const said = (words: string, thought = ''): string =>
  (thought === '' ? '' : event({ choices: [{ delta: { reasoning_content: thought } }] })) +
  event({ choices: [{ delta: { content: words } }] }) +
  event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 5 } }) +
  'data: [DONE]\n\n';

function model(id: string, plugin = 'language_model'): Model {
  return {
    model_id: `mdl_${id}`, name: id, plugin, owned: true, ready: true, shared: false, file_name: 'x.gguf',
    created_at: '2026-11-01T00:00:00Z',
  };
}

function ready(): void {
  for (const loading of [devicesLoading, modelsLoading, deploymentsLoading]) loading.value = { state: 'ready', error: null };
}

async function served(plugin?: string, more: Parameters<typeof deployment>[2] = {}): Promise<void> {
  const one = deployment('a', 'dev_a', more);
  devices.loaded([device('a')]);
  models.loaded([model('a', plugin)]);
  deployments.loaded([one]);
  ready();
  known.answers['/deployments'] = [200, { items: [one] }];
  await vi.waitFor(() => expect(targets.value[0]?.deployment).toBe(one));
}

beforeEach(() => {
  stop();
  sessionStorage.clear();
  known = backend({
    '/devices/dev_a': [200, device('a')],
    '/settings/allowlist': [200, { origins: [ORIGIN], defaults: [] }],
  });
  const toBackend = globalThis.fetch;
  vi.stubGlobal('fetch', async (input: Request | string, init?: RequestInit) => {
    const url = typeof input === 'string' ? input : input.url;
    if (!url.startsWith(LOCAL)) return toBackend(input, init);
    if (init?.mode === 'no-cors' && !silent) return new Response();
    if (!answer || silent) throw new TypeError('Failed to fetch');
    return answer(new Request(url, { method: 'POST', body: init?.body ?? null, signal: init?.signal ?? null }));
  });
  sessionStorage.setItem('link.refresh-token', 'r');
  silent = false;
  answer = () => new Response(said('Hello **there**. And more.'));
  document.body.innerHTML = '<main><div id="root"></div></main>';
  root = document.getElementById('root') as HTMLElement;
  me.value = { user_id: 'usr_1', account_id: 'acc_1', email: 'owner@example.com', role: 'owner' };
  choose('');
  write('');
  show();
  void forgetAll();
  sent.value = [];
  answering.value = new Map();
});
afterEach(() => render(null, root));

async function settled(words: string): Promise<void> {
  await vi.waitFor(() => expect(document.body.textContent).toContain(words), { timeout: 4_000 });
}

async function accessible(): Promise<void> {
  const rules = { 'color-contrast': { enabled: false }, region: { enabled: false } };
  const { violations } = await axe.run(document.body, { rules });
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join('\n')}`)).toEqual([]);
}

async function ask(words: string): Promise<void> {
  await vi.waitFor(() => expect(root.querySelector('#send')).not.toBeNull());
  const field = root.querySelector<HTMLTextAreaElement>('#message');
  if (field) field.value = words;
  field?.dispatchEvent(new Event('input', { bubbles: true }));
  field?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
}

function press(selector: string): void {
  const found = document.querySelector<HTMLElement>(selector);
  if (!found) throw new Error(`there is no ${selector}`);
  found.click();
}

describe('the policy of the workspace', () => {
  it('holds for no other page: going there and away loads a page', () => {
    for (const other of ['/', '/devices', '/devices/dev_a', '/nothing']) {
      expect([sharesDocument('/workspace', other), sharesDocument(other, '/workspace')], other).toEqual([false, false]);
    }
    expect(sharesDocument('/workspace', '/workspace')).toBe(true);
    expect(sharesDocument('/devices', '/devices/dev_a')).toBe(true);
    expect(sharesDocument('/', '/devices')).toBe(true);
    history.replaceState(null, '', '/devices');
    const pushed = vi.spyOn(history, 'pushState');
    go('/workspace');
    expect(pushed).not.toHaveBeenCalled();
    go('/devices/dev_a');
    expect(pushed).toHaveBeenCalledOnce();
    pushed.mockRestore();
  });
});

describe('the workspace', () => {
  it('says that no model is deployed', async () => {
    render(<WorkspacePage />, root);
    expect(root.querySelector('.skeleton')).not.toBeNull();
    ready();
    await settled('No model is deployed');
    await accessible();
  });

  it('offers no model before it knows what each of them is', async () => {
    devices.loaded([device('a')]);
    deployments.loaded([deployment('a', 'dev_a'), deployment('b', 'dev_a')]);
    deploymentsLoading.value = { state: 'ready', error: null };
    devicesLoading.value = { state: 'ready', error: null };
    modelsLoading.value = { state: 'loading', error: null };
    render(<WorkspacePage />, root);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(root.querySelector('#model')).toBeNull();
    models.loaded([model('a', 'audio_transcriber'), model('b')]);
    ready();
    await vi.waitFor(() => expect(root.querySelector<HTMLSelectElement>('#model')?.value).toBe('mdl_b dev_a'));
  });

  it('asks at first a model that chats and has a current allowlist', async () => {
    await served(undefined, { stale: true });
    const on8081 = { serving: { state: 'serving' as const, is_serving: true, port: 8081 } };
    models.changed(model('b', 'image_classifier'));
    models.changed(model('c'));
    deployments.changed(deployment('b', 'dev_a', on8081));
    render(<WorkspacePage />, root);
    await vi.waitFor(() => expect(root.querySelector<HTMLSelectElement>('#model')?.value).toBe('mdl_a dev_a'));
    deployments.changed(deployment('c', 'dev_a', on8081));
    await vi.waitFor(() => expect(root.querySelector<HTMLSelectElement>('#model')?.value).toBe('mdl_c dev_a'));
  });

  it('keeps the model of a conversation when another one is served', async () => {
    await served();
    render(<WorkspacePage />, root);
    await ask('Hi');
    await settled('5 completion tokens');
    devices.loaded([device('0')]);
    deployments.changed(deployment('0', 'dev_0'));
    await vi.waitFor(() => expect(root.querySelectorAll('#model option')).toHaveLength(2));
    expect(root.querySelector<HTMLSelectElement>('#model')?.value).toBe('mdl_a dev_a');
  });

  it('drops the answer of another device, and says which one it is', async () => {
    await served();
    devices.changed(device('b', { name: 'desktop' }));
    answer = () => new Response(said('From the wrong one.'), { headers: { 'link-device': 'dev_b' } });
    render(<WorkspacePage />, root);
    await ask('Hi');
    await settled('desktop answers on 127.0.0.1:8080, not a');
    expect(root.textContent).not.toContain('wrong one');
    expect(root.querySelector('#model option')?.textContent).toBe('a on a (on another computer)');
    expect(root.querySelectorAll('.offer')).toHaveLength(0);
    await accessible();
  });

  it('asks the ports of several devices which one is here, and offers its model first', async () => {
    answer = () => new Response('{}', { headers: { 'link-device': 'dev_b' } });
    await served();
    devices.changed(device('b', { name: 'desktop' }));
    deployments.changed(deployment('b', 'dev_b', { model_id: 'mdl_a' }));
    render(<WorkspacePage />, root);
    await vi.waitFor(() => expect(root.querySelector<HTMLSelectElement>('#model')?.value).toBe('mdl_a dev_b'));
    choose('mdl_a dev_a');
    await settled('This model is on another computer');
    await ask('Anybody there?');
    expect(root.querySelector('.asked')).toBeNull();
    await accessible();
    press('[data-offer=here]');
    await vi.waitFor(() => expect(root.querySelector<HTMLSelectElement>('#model')?.value).toBe('mdl_a dev_b'));
    // The tunnel to that device has ended, and an agent that names nothing answers; then nothing answers.
    const back = [() => new Response('{}'), null];
    choose('mdl_a dev_a');
    for (const now of back) {
      answering.value = new Map([[8080, 'dev_b']]);
      await settled('This model is on another computer');
      answer = now;
      dispatchEvent(new Event('focus'));
      await vi.waitFor(() => expect(root.querySelector('.offer')).toBeNull());
    }
  });

  it('sends no further file to another device, and keeps the reason in sight', async () => {
    await served('audio_transcriber');
    devices.changed(device('b', { name: 'desktop' }));
    let got = 0;
    answer = (request) => {
      if (request.url.endsWith('/v1/audio/transcriptions')) got += 1;
      return new Response('{}', { headers: { 'link-device': 'dev_b' } });
    };
    render(<WorkspacePage />, root);
    await vi.waitFor(() => expect(root.querySelector('#file')).not.toBeNull());
    const picker = root.querySelector('#file') as HTMLInputElement;
    const files = ['one.wav', 'two.wav', 'three.wav'].map((name) => new File(['x'], name));
    Object.defineProperty(picker, 'files', { configurable: true, value: files });
    picker.dispatchEvent(new Event('change', { bubbles: true }));
    await settled('desktop answers on 127.0.0.1:8080, not a');
    await vi.waitFor(() => expect(sent.value.map(({ state }) => state)).toEqual(['failed', 'failed', 'failed']));
    expect(got).toBe(1);
    await accessible();
  });

  it('finds one of the models of a fleet by its name, its device and its alias', async () => {
    await served();
    const stopped = { serving: { state: 'not_serving' as const, is_serving: false, port: 8080 } };
    deployments.loaded(Array.from({ length: 5_000 }, (_, at) => deployment(`${at}`, 'dev_a', at < 3 ? {} : stopped)));
    render(<WorkspacePage />, root);
    const field = await vi.waitFor(() => root.querySelector<HTMLInputElement>('#model[role=combobox]') ?? Promise.reject(new Error('no field')));
    const options = (): string[] => [...root.querySelectorAll('[role=option]')].map((one) => one.textContent ?? '');
    field.click();
    await vi.waitFor(() => expect(options()).toHaveLength(50));
    expect(options().slice(0, 5).map((words) => words.includes('not served'))).toEqual([false, false, false, false, true]);
    await accessible();
    field.value = 'MODEL-4999 A';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await vi.waitFor(() => expect(options()).toEqual(['model-4999 on a (not served)']));
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
    await vi.waitFor(() => expect(field.value).toBe('model-4999 on a (not served)'));
    expect(options()).toEqual([]);
    await settled('deployed, but not served');
    await accessible();
  });

  it('says why a model cannot be asked, and offers to serve it', async () => {
    await served(undefined, { serving: { state: 'not_serving', is_serving: false, port: 8080 } });
    render(<WorkspacePage />, root);
    await settled('a on a (not served)');
    await settled('deployed, but not served');
    await accessible();
    await ask('Anybody there?');
    expect(root.querySelector('.asked')).toBeNull();
    await settled('Not sent: not served.');
    expect(draft.value).toBe('Anybody there?');
    known.answers['/models/mdl_a/serve/dev_a'] = [200, { command_id: 'cmd_1', state: 'sent' }];
    known.answers['/commands/cmd_1'] = [200, { command_id: 'cmd_1', state: 'processed', result: { status: 'failed', output: 'out of memory' } }];
    press('[data-offer=serve]');
    await settled('a: Out of memory.');
  });

  it('streams an answer, keeps its reasoning folded, and says what it took', async () => {
    await served();
    const gate = held<Response>();
    answer = () => gate.promise;
    render(<WorkspacePage />, root);
    await ask('Hi');
    await settled('Waiting for the first word');
    await accessible();
    gate.keep(new Response(said('Hello **there**.', 'A greeting.')));
    await settled('5 completion tokens');
    expect(root.querySelector('.answered .text')?.textContent?.trim()).toBe('Hello there.');
    expect(root.querySelector('.answered strong')?.textContent).toBe('there');
    expect(root.querySelector<HTMLDetailsElement>('.thought')?.open).toBe(false);
    expect(spaced(root.querySelector('.usage')?.textContent)).toMatch(/^3 prompt tokens · 5 completion tokens · first token after \d+\.\d s.* · \d+\.\d s in all$/);
    await settled('The answer is complete.');
    await accessible();
  });

  it('says that a limit of tokens has cut an answer off', async () => {
    await served();
    answer = () => new Response(event({ choices: [{ delta: { content: 'Half' } }] }) + event({ choices: [{ delta: {}, finish_reason: 'length' }] }) + said(''));
    render(<WorkspacePage />, root);
    await ask('Hi');
    await settled('Cut off: the answer reached its token limit');
    expect(root.querySelector('.answered .text')?.textContent?.trim()).toBe('Half');
    await accessible();
  });

  it('stops an answer, and keeps what has come', async () => {
    await served();
    let end: (() => void) | null = null;
    answer = (request) => {
      const stream = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(event({ choices: [{ delta: { content: 'Half a' } }] })));
          end = () => controller.error(new Error('aborted'));
        },
      });
      request.signal.addEventListener('abort', () => end?.());
      return new Response(stream);
    };
    render(<WorkspacePage />, root);
    await ask('Hi');
    await settled('Half a');
    press('#stop');
    await settled('Stopped.');
    expect(root.querySelector('.answered .text')?.textContent?.trim()).toBe('Half a');
    await accessible();
    answer = () => new Response(said('Another answer.'));
    press('[data-turn=regenerate]');
    await settled('Another answer.');
    expect(root.querySelectorAll('.asked')).toHaveLength(1);
  });

  it('asks an edited question, and forgets what came after it', async () => {
    await served();
    const bodies: string[] = [];
    answer = async (request) => {
      bodies.push(await request.text());
      return new Response(said(`Answer ${bodies.length}.`));
    };
    render(<WorkspacePage />, root);
    await ask('First');
    await settled('Answer 1.');
    await vi.waitFor(() => expect(root.querySelector('[data-turn=edit]')).not.toBeNull());
    press('[data-turn=edit]');
    await vi.waitFor(() => expect(root.querySelector('.edit textarea')).not.toBeNull());
    const field = root.querySelector<HTMLTextAreaElement>('.edit textarea');
    if (field) field.value = 'Changed';
    press('.edit [type=submit]');
    await settled('Answer 2.');
    expect(root.textContent).not.toContain('First\n');
    expect(JSON.parse(bodies[1] ?? '')).toMatchObject({ messages: [{ role: 'user', content: 'Changed' }], stream: true });
  });

  it('names the refused preflight, repairs it, and sends the message again by itself, once', async () => {
    await served(undefined, { stale: true });
    let asked = 0;
    answer = null;
    known.answers['/models/mdl_a/repair-serving/dev_a'] = () => {
      answer = () => {
        asked += 1;
        return new Response(said('Repaired answer.'));
      };
      return [200, { command_id: 'cmd_1', state: 'sent' }];
    };
    known.answers['/commands/cmd_1'] = [200, { command_id: 'cmd_1', state: 'processed', result: { status: 'succeeded', output: 'ok' } }];
    render(<WorkspacePage />, root);
    await ask('Say hello.');
    await settled('preflight was refused');
    expect([...root.querySelectorAll('.remedies button')].map((one) => one.textContent)).toEqual(['Repair', 'Redeploy']);
    expect(document.body.textContent).not.toMatch(/document too large/i);
    await accessible();
    press('[data-action=repair]');
    press('[data-action=repair]');
    await settled('Repaired answer.');
    expect(root.querySelector('[data-cause]')).toBeNull();
    expect([asked, known.to('/models/mdl_a/repair-serving/dev_a').length, root.querySelectorAll('.asked').length]).toEqual([1, 1, 1]);
    await accessible();
  });

  it('sends a message again by itself, once, when its device is back', async () => {
    await served();
    silent = true;
    known.answers['/devices/dev_a'] = [200, device('a', { online: false })];
    render(<WorkspacePage />, root);
    await ask('Anybody there?');
    await settled('The device is offline');
    await settled('sent again automatically');
    await accessible();
    // The backend knew before the list of this page did.
    const asked = (): number => root.querySelectorAll('.asked').length;
    const appears = async (online: boolean): Promise<void> => {
      devices.changed(device('a', { online }));
      await vi.waitFor(() => expect(targets.value[0]?.absent).toBe(online ? null : 'offline'));
    };
    await appears(false);
    await appears(true);
    // It is still silent: the second failure waits for a person.
    await vi.waitFor(() => expect(document.body.textContent).not.toContain('sent again automatically'));
    await settled('The device is offline');
    silent = false;
    await appears(false);
    await appears(true);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(root.querySelector('.answered')).toBeNull();
    press('[data-action=retry]');
    await settled('Hello there. And more.');
    expect(asked()).toBe(1);
  });

  it('sends a message again when the engine has loaded', async () => {
    await served();
    answer = () => Response.json({ status: 503, code: 'engine-loading', detail: 'the engine is loading the model' }, { status: 503 });
    render(<WorkspacePage />, root);
    await ask('Anybody there?');
    await settled('sent again automatically');
    deployments.changed(deployment('a', 'dev_a', { serving: { state: 'starting', is_serving: false, port: 8080 } }));
    await vi.waitFor(() => expect(targets.value[0]?.absent).toBe('starting'));
    answer = () => new Response(said('Loaded.'));
    deployments.changed(deployment('a', 'dev_a'));
    await settled('Loaded.');
    expect(root.querySelectorAll('.asked')).toHaveLength(1);
    expect(root.querySelector('[data-cause]')).toBeNull();
  });

  it('offers no remedy that the device would have to carry out while it updates', async () => {
    await served(undefined, { stale: true });
    answer = null;
    render(<WorkspacePage />, root);
    await ask('Say hello.');
    await settled('preflight was refused');
    devices.changed(device('a', { status: 'updating' }));
    await settled('The agent of the device is being updated.');
    await vi.waitFor(() => expect(root.querySelector('.remedies [data-action]')).toBeNull());
    await accessible();
    devices.changed(device('a'));
    await vi.waitFor(() => expect(root.querySelectorAll('.remedies [data-action]')).toHaveLength(2));
  });

  it('holds a question that is being edited, so that no other tab takes it out', async () => {
    await served();
    render(<WorkspacePage />, root);
    await ask('First');
    await vi.waitFor(() => expect(root.querySelector('[data-turn=edit]')).not.toBeNull());
    press('[data-turn=edit]');
    const [turn] = conversation.value.turns;
    await vi.waitFor(() => expect([...edited]).toEqual([turn?.id]));
    root.querySelector('.edit textarea')?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    await vi.waitFor(() => expect([...edited]).toEqual([]));
  });

  it('keeps an edited question for a new message when another tab deletes its conversation, unless it was given up', async () => {
    await served();
    const edit = async (words: string): Promise<HTMLTextAreaElement> => {
      await vi.waitFor(() => expect(root.querySelector('[data-turn=edit]')).not.toBeNull());
      press('[data-turn=edit]');
      await vi.waitFor(() => expect(root.querySelector('.edit textarea')).not.toBeNull());
      const field = root.querySelector<HTMLTextAreaElement>('.edit textarea');
      if (!field) throw new Error('there is no field');
      field.value = words;
      field.dispatchEvent(new Event('input', { bubbles: true }));
      return field;
    };
    render(<WorkspacePage />, root);
    await ask('First');
    await settled('there');
    const given = await edit('Given up');
    given.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    await edit('First');
    const deletes = async (): Promise<void> => {
      void forget(conversation.value.id);
      show();
      await vi.waitFor(() => expect([...edited]).toEqual([]));
    };
    await deletes();
    expect(draft.value).toBe('');
    await ask('Second');
    await settled('there');
    await edit('Second, and left');
    show();
    await vi.waitFor(() => expect([...edited]).toEqual([]));
    expect(draft.value).toBe('');
    await ask('Third');
    await settled('there');
    write('Begun.');
    await edit('Third, in other words');
    await deletes();
    await vi.waitFor(() => expect(draft.value).toBe('Begun.\n\nThird, in other words'));
  });

  it('gives up an edit with the conversation that this tab deletes', async () => {
    await served();
    render(<WorkspacePage />, root);
    await ask('First');
    await settled('there');
    await vi.waitFor(() => expect(root.querySelector('[data-turn=edit]')).not.toBeNull());
    press('[data-turn=edit]');
    await vi.waitFor(() => expect(root.querySelector('.edit textarea')).not.toBeNull());
    const field = root.querySelector<HTMLTextAreaElement>('.edit textarea');
    if (!field) throw new Error('there is no field');
    field.value = 'In other words';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    const deleted = conversation.value.id;
    press('.history-list .here .icon-button');
    await vi.waitFor(() => expect(root.querySelector('dialog .danger')).not.toBeNull());
    press('dialog .danger');
    await vi.waitFor(() => expect([conversation.value.id === deleted, [...edited]]).toEqual([false, []]));
    await vi.waitFor(() => expect(root.querySelector('.edit textarea')).toBeNull());
    expect(draft.value).toBe('');
  });

  it('keeps an answer whose question another tab has taken out', async () => {
    await served();
    let letGo: (response: Response) => void = () => undefined;
    answer = () => new Promise((resolve) => (letGo = resolve));
    render(<WorkspacePage />, root);
    await ask('First');
    await vi.waitFor(() => expect([...awaited]).toEqual([conversation.value.turns[0]?.id]));
    settle({ ...conversation.value, turns: [] });
    letGo(new Response(said('Late answer.')));
    await settled('Late answer.');
    expect([conversation.value.turns.map(({ question }) => question), [...awaited]]).toEqual([['First'], []]);
  });

  it.each([true, false])('sends the message that failed again, although another tab has asked meanwhile (and left it: %s)', async (isThere) => {
    await served(undefined, { stale: true });
    const bodies: string[] = [];
    answer = null;
    known.answers['/models/mdl_a/repair-serving/dev_a'] = () => {
      answer = async (request) => {
        bodies.push(await request.text());
        return new Response(said('Repaired answer.'));
      };
      return [200, { command_id: 'cmd_1', state: 'sent' }];
    };
    known.answers['/commands/cmd_1'] = [200, { command_id: 'cmd_1', state: 'processed', result: { status: 'succeeded', output: 'ok' } }];
    render(<WorkspacePage />, root);
    await ask('Say hello.');
    await settled('preflight was refused');
    const theirs = { id: 'x', question: 'Theirs', answer: 'Their answer.', thought: '', figures: null, model: 'a', state: 'complete' } as const;
    settle({ ...conversation.value, turns: isThere ? [...conversation.value.turns, theirs] : [theirs] });
    await settled('Their answer.');
    press('[data-action=repair]');
    await settled('Repaired answer.');
    expect(bodies.map((body) => JSON.parse(body).messages.at(-1))).toEqual([{ role: 'user', content: 'Say hello.' }]);
    const turns = conversation.value.turns.map(({ question, answer: words }) => [question, words]);
    const [mine, other] = [['Say hello.', 'Repaired answer.'], ['Theirs', 'Their answer.']];
    expect(turns).toEqual(isThere ? [mine, other] : [other, mine]);
  });

  it('keeps what is typed into a setting while another tab changes the conversation', async () => {
    await served();
    render(<WorkspacePage />, root);
    await ask('First');
    await settled('And more.');
    const field = root.querySelector<HTMLTextAreaElement>('#system') as HTMLTextAreaElement;
    const change = async (part: object): Promise<void> => {
      settle({ ...conversation.value, ...part });
      await new Promise((resolve) => setTimeout(resolve, 100));
    };
    root.querySelector('details.sampling')?.setAttribute('open', '');
    field.focus();
    await change({ system: 'Theirs.' });
    expect(field.value).toBe('Theirs.');
    field.value = 'Half a sent';
    await change({ system: 'Theirs, later.' });
    await change({ turns: [...conversation.value.turns] });
    expect(field.value).toBe('Half a sent');
    field.dispatchEvent(new Event('change', { bubbles: true }));
    await change({});
    expect([field.value, conversation.value.system]).toEqual(['Half a sent', 'Half a sent']);
    // What was typed and taken back is no change.
    field.value = 'Half a sentence';
    await change({ system: 'Theirs again.' });
    field.value = 'Half a sent';
    field.blur();
    expect(field.value).toBe('Theirs again.');
    show();
    await vi.waitFor(() => expect(field.value).toBe(''));
  });

  it.each([
    ['viewer', [], 'Ask an operator'],
    ['operator', ['Repair', 'Redeploy'], ''],
  ] as const)('offers a %s only what the role allows, and names who can help', async (role, wanted, help) => {
    me.value = { user_id: 'usr_1', account_id: 'acc_1', email: 'owner@example.com', role };
    await served(undefined, { stale: true });
    answer = null;
    render(<WorkspacePage />, root);
    await settled('Send');
    expect(root.querySelector('[data-offer=repair]') !== null).toBe(role === 'operator');
    await ask('Say hello.');
    await settled('preflight was refused');
    expect([...root.querySelectorAll('.remedies button')].map((one) => one.textContent)).toEqual(wanted);
    // The card offers it now, and the bar no longer does.
    expect(root.querySelector('[data-offer]')).toBeNull();
    expect(root.querySelector('.remedies')?.textContent).toContain(help);
    await accessible();
  });

  it('deploys again with pages let in, and says why that failed', async () => {
    await served(undefined, { stale: true });
    answer = null;
    const stands = known.answers['/deployments'];
    known.answers['/deployments'] = ({ method }) =>
      (method === 'POST' ? [409, { status: 409, detail: 'the device is offline' }] : stands) as [number, unknown];
    render(<WorkspacePage />, root);
    await ask('Say hello.');
    await settled('preflight was refused');
    press('[data-action=redeploy]');
    await settled('The device is offline.');
    const sent = known.to('/deployments').filter(({ method }) => method === 'POST').map(({ body }) => body);
    expect(sent).toMatchObject([{ model_id: 'mdl_a', device_id: 'dev_a', serve: true, proxy: { cors: true } }]);
  });

  it('adds its origin to the list that somebody else has just changed', async () => {
    await served(undefined, { stale: true });
    let origins = ['https://old.example'];
    const written: unknown[] = [];
    known.answers['/settings/allowlist'] = ({ method, body, headers }) => {
      if (method !== 'PUT') return [200, { origins, defaults: [] }, { etag: `"${origins.length}"` }];
      written.push([headers.get('if-match'), body]);
      if (written.length > 1) return [200, body];
      origins = ['https://old.example', 'https://theirs.example'];
      return [412, { status: 412, detail: 'the allowlist was changed' }];
    };
    await allowOrigin('https://mine.example');
    expect(written).toEqual([
      ['"1"', { origins: ['https://old.example', 'https://mine.example'] }],
      ['"2"', { origins: ['https://old.example', 'https://theirs.example', 'https://mine.example'] }],
    ]);
  });

  it('says why a repair failed, and offers it again', async () => {
    await served(undefined, { stale: true });
    answer = null;
    known.answers['/models/mdl_a/repair-serving/dev_a'] = [409, { status: 409, detail: 'the device is offline' }];
    render(<WorkspacePage />, root);
    await ask('Say hello.');
    await settled('preflight was refused');
    press('[data-action=repair]');
    await settled('The device is offline.');
    expect(root.querySelector('[data-action=repair]')?.getAttribute('aria-disabled')).toBe('false');
  });

  it.each([
    ['engine-loading', 503, { code: 'engine-loading' }],
    ['engine-unavailable', 502, { code: 'engine-unavailable' }],
    ['not-serving', 404, { code: 'model-not-served' }],
    ['request-too-large', 413, { code: 'payload-too-large' }],
    ['context-exceeded', 400, { error: { type: 'exceed_context_size_error', message: 'too long', n_prompt_tokens: 9, n_ctx: 8 } }],
    ['engine-error', 500, { error: { message: HOSTILE.join(' ') } }],
  ])('shows %s', async (code, status, body) => {
    await served();
    answer = () => new Response(JSON.stringify(body), { status });
    render(<WorkspacePage />, root);
    await ask('Hi');
    await vi.waitFor(() => expect(root.querySelector(`[data-cause=${code}]`)).not.toBeNull(), { timeout: 4_000 });
    expect(root.querySelector('img')).toBeNull();
    expect(root.textContent).not.toMatch(/[\u0000\u202e\u200b]/);
    await accessible();
  });

  it('shows hostile text as text, on both sides', async () => {
    await served();
    const hostile = HOSTILE.join('\n\n');
    answer = () => new Response(said(hostile, hostile));
    render(<WorkspacePage />, root);
    await ask(hostile);
    await settled('5 completion tokens');
    expect(root.querySelector('img, script')).toBeNull();
    expect(root.textContent).toContain('<img src=x onerror=alert(1)>');
    expect(root.textContent).not.toMatch(/[\u0000\u202e\u200b]/);
    await accessible();
  });

  it('says that this browser keeps nothing', async () => {
    await served();
    render(<WorkspacePage />, root);
    await ask('Hi');
    // jsdom has no IndexedDB, as a browser that forbids it.
    await settled('does not let the page store anything');
    await accessible();
  });

  it('keeps a draft over a reload', async () => {
    await served();
    render(<WorkspacePage />, root);
    write('half a thought');
    expect(sessionStorage.getItem('link.workspace.draft.usr_1')).toBe('half a thought');
    write('');
    expect(sessionStorage.getItem('link.workspace.draft.usr_1')).toBeNull();
  });
});

describe('files', () => {
  function drop(name: string): void {
    const zone = root.querySelector('.drop');
    const dropped = new Event('drop', { bubbles: true, cancelable: true });
    Object.assign(dropped, { dataTransfer: { files: [new File(['bytes'], name)] } });
    zone?.dispatchEvent(dropped);
  }

  it.each([
    ['audio_transcriber', { text: 'Ask not.', segments: [] }, 'Ask not.'],
    ['audio_classifier', { data: [{ label: 'speech', start: 0, end: 2, score: 0.9 }], summary: [{ label: 'speech', share: 0.4 }] }, '40.0 % of the time'],
  ])('are sent to a model of %s', async (plugin, document, words) => {
    await served(plugin);
    answer = () => new Response(JSON.stringify(document));
    render(<WorkspacePage />, root);
    await settled('Drop a recording here');
    await accessible();
    drop('<b>talk</b>.wav');
    await settled(words);
    await settled('<b>talk</b>.wav');
    await accessible();
  });

  it('are stopped, sent again and taken off the page, and are not lost without a question', async () => {
    await served('audio_transcriber');
    const asked: Request[] = [];
    answer = (request) => {
      asked.push(request);
      return new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError'))));
    };
    render(<WorkspacePage />, root);
    await settled('Drop a recording here');
    const asks = (): boolean => !dispatchEvent(new Event('beforeunload', { cancelable: true }));
    const states = (): (string | undefined)[] => [...root.querySelectorAll<HTMLElement>('.result')].map(({ dataset }) => dataset['state']);
    expect(asks()).toBe(false);
    drop('one.wav');
    drop('two.wav');
    await vi.waitFor(() => expect([asked.length, states()]).toEqual([1, ['waiting', 'working']]));
    expect(asks()).toBe(true);
    await accessible();
    const stop = (place: number): void => [...root.querySelectorAll<HTMLButtonElement>('.result button')].filter(({ textContent }) => textContent === 'Stop')[place]?.click();
    stop(0);
    await vi.waitFor(() => expect(states()).toEqual(['stopped', 'working']));
    stop(0);
    await vi.waitFor(() => expect(states()).toEqual(['stopped', 'stopped']));
    expect([asked.length, asked[0]?.signal.aborted, asks()]).toEqual([1, true, false]);
    expect(root.querySelector('.failure-card, [data-cause]')).toBeNull();
    answer = () => new Response(JSON.stringify({ text: 'Ask not.', segments: [] }));
    [...root.querySelectorAll<HTMLButtonElement>('.result-head button')].find(({ textContent }) => textContent === 'Send again')?.click();
    await settled('Ask not.');
    expect([states(), asks()]).toEqual([['done', 'stopped'], true]);
    await accessible();
    root.querySelectorAll<HTMLButtonElement>('.result-head .icon-button').forEach((button) => button.click());
    await vi.waitFor(() => expect([states(), asks()]).toEqual([[], false]));
  });

  it('are exported and cleared together, and none makes room for another by itself', async () => {
    const exported: Blob[] = [];
    vi.stubGlobal('URL', Object.assign(URL, { createObjectURL: (blob: Blob) => (exported.push(blob), 'blob:x'), revokeObjectURL: () => undefined }));
    await served('audio_transcriber');
    answer = () => new Response(JSON.stringify({ text: 'Ask not.', segments: [] }));
    render(<><WorkspacePage /><Notices /></>, root);
    await settled('Drop a recording here');
    const zone = root.querySelector('.drop');
    const files = Array.from({ length: MOST_FILES + 2 }, (_, at) => new File(['bytes'], `${at}.wav`));
    zone?.dispatchEvent(Object.assign(new Event('drop', { bubbles: true, cancelable: true }), { dataTransfer: { files } }));
    await settled('2 files were not taken: the list has room for 200.');
    await settled('Export 200 results');
    drop('more.wav');
    await settled('1 file was not taken');
    const button = (words: string): HTMLButtonElement | undefined => [...root.querySelectorAll('button')].find(({ textContent }) => textContent?.trim() === words);
    button('Export 200 results')?.click();
    const written = JSON.parse(await exported[0]?.text() ?? '') as { schema: number; results: { file: string }[] };
    expect(written.schema).toBe(1);
    expect(written.results).toHaveLength(200);
    expect(written.results[0]).toEqual({
      file: '0.wav', size_bytes: 5, model: 'a', task: 'transcribe', outcome: { kind: 'transcript', words: 'Ask not.', segments: [], seconds: null },
    });
    button('Clear the list')?.click();
    await settled('200 results are kept nowhere else and will be lost.');
    button('Clear')?.click();
    await vi.waitFor(() => expect(sent.value).toEqual([]));
    await vi.waitFor(() => expect(document.activeElement?.textContent).toBe('Choose a file'));
    drop('more.wav');
    await settled('Export 1 result');
    await accessible();
    // What is done after the question was asked stays.
    button('Clear the list')?.click();
    await settled('1 result is kept nowhere else');
    await accessible();
    drop('later.wav');
    await vi.waitFor(() => expect(sent.value.map(({ state }) => state)).toEqual(['done', 'done']));
    button('Clear')?.click();
    await vi.waitFor(() => expect(sent.value.map(({ file }) => file.name)).toEqual(['later.wav']));
  });

  it('that were refused are sent again after a repair', async () => {
    vi.stubGlobal('URL', Object.assign(URL, { createObjectURL: () => 'blob:x', revokeObjectURL: () => undefined }));
    await served('image_classifier', { stale: true });
    answer = null;
    known.answers['/models/mdl_a/repair-serving/dev_a'] = () => {
      answer = () => new Response(JSON.stringify({ data: [{ label: '90', score: 0.93 }] }));
      return [200, { command_id: 'cmd_1', state: 'processed', result: { status: 'succeeded', output: 'ok' } }];
    };
    render(<WorkspacePage />, root);
    await settled('Drop an image here');
    drop('page.png');
    await settled('preflight was refused');
    await accessible();
    press('[data-action=repair]');
    await settled('93.0 %');
    await accessible();
  });
});
