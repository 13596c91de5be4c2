// A conversation has an address: a reload and Back lead to it, and an address from elsewhere says why it leads to nothing.

import { render } from 'preact';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { deployments, deploymentsLoading, devices, devicesLoading, me, models, modelsLoading, stop } from '../src/data/store';
import { WorkspacePage } from '../src/pages/workspace/page';
import { forget, forgetAll, opened, settle } from '../src/pages/workspace/keeping';
import { choose, conversation, target } from '../src/pages/workspace/state';
import { workspaceWith } from '../src/ui/addresses';
import { Notices } from '../src/ui/notices';
import { listen } from '../src/ui/router';
import { fresh, type Conversation } from '../src/workspace/conversations';
import { backend } from './backend';
import { deployment, device, model } from './fixtures';
import { Memory } from './memory_storage';

const browser = new Memory();

vi.mock('../src/workspace/storage', async (original) => ({
  ...(await original<typeof import('../src/workspace/storage')>()),
  Storage: (await import('./memory_storage')).storageOf(() => browser),
}));

listen();

let root: HTMLElement;

const asked = (question: string, id = question): Conversation => {
  const turn = { id: question, question, answer: 'Yes.', thought: '', figures: null, model: 'm', state: 'complete' } as const;
  return { ...fresh(1), id, title: question, turns: [turn] };
};
const titled = (words: string): HTMLButtonElement | undefined => [...root.querySelectorAll<HTMLButtonElement>('.history-list .title')].find(({ textContent }) => textContent === words);
const shows = (words: string): Promise<void> => vi.waitFor(() => expect(root.querySelector('.workspace-main')?.textContent).toContain(words), { timeout: 3_000 });

/** Loads the page at an address. */
async function load(address: string, ids = ['a']): Promise<void> {
  render(null, root);
  stop();
  history.replaceState(null, '', address);
  dispatchEvent(new PopStateEvent('popstate'));
  me.value = { user_id: 'usr_1', account_id: 'acc_1', email: 'owner@example.com', role: 'owner' };
  devices.loaded([device('a')]);
  models.loaded(ids.map((id) => model(id, { plugin: 'language_model' })));
  deployments.loaded(ids.map((id) => deployment(id, 'dev_a')));
  for (const loading of [devicesLoading, modelsLoading, deploymentsLoading]) loading.value = { state: 'ready', error: null };
  render(<><WorkspacePage /><Notices /></>, root);
  await vi.waitFor(() => expect(opened.value).toBe(true));
}

it('has the model of its address, and the address the model that is chosen', async () => {
  await load(workspaceWith('mdl_b', 'dev_a'), ['a', 'b']);
  await vi.waitFor(() => expect(target.value?.modelId).toBe('mdl_b'), { timeout: 3_000 });
  choose('mdl_a dev_a');
  await vi.waitFor(() => expect(location.search).toBe('?model=mdl_a&device=dev_a'), { timeout: 3_000 });
  // Back, or an address that somebody has followed.
  history.replaceState(null, '', workspaceWith('mdl_b', 'dev_a'));
  dispatchEvent(new PopStateEvent('popstate'));
  await vi.waitFor(() => expect(target.value?.modelId).toBe('mdl_b'), { timeout: 3_000 });
});

it.each(['?model=mdl_gone&device=dev_a', '?model=+&device=x'])('with a model that is not there (%s) shows another one, and no loop', async (search) => {
  await load(`/workspace${search}`);
  await vi.waitFor(() => expect(location.search).toBe(search.includes('gone') ? '?model=mdl_a&device=dev_a' : search), { timeout: 3_000 });
  expect(target.value?.modelId).toBe('mdl_a');
  expect(document.body.textContent?.includes('not on that device any more')).toBe(search.includes('gone'));
});

beforeEach(() => {
  sessionStorage.clear();
  browser.kept.clear();
  backend({});
  document.body.innerHTML = '<main><div id="root"></div></main>';
  root = document.getElementById('root') as HTMLElement;
});
afterEach(async () => {
  await forgetAll();
  render(null, root);
});

it('is that of its first question, and a reload shows it again', async () => {
  await load('/workspace');
  const first = asked('Is it there?', 'a1');
  settle(first);
  await vi.waitFor(() => expect(location.search).toBe('?conversation=a1'));
  await load(`/workspace${location.search}`);
  await shows('Is it there?');
  expect(conversation.value.id).toBe('a1');
});

it('changes with the conversation that is opened, and Back leads to the one before', async () => {
  browser.kept.set('a1', asked('The first?', 'a1'));
  browser.kept.set('a2', asked('The second?', 'a2'));
  await load('/workspace?conversation=a1');
  await shows('The first?');
  titled('The second?')?.click();
  await shows('The second?');
  expect(location.search).toBe('?conversation=a2');
  history.back();
  await shows('The first?');
  expect(location.search).toBe('?conversation=a1');
  root.querySelector<HTMLButtonElement>('#fresh')?.click();
  await vi.waitFor(() => expect(location.search).toBe(''));
  expect(conversation.value.turns).toEqual([]);
});

it('is gone with the conversation', async () => {
  browser.kept.set('a1', asked('The first?', 'a1'));
  await load('/workspace?conversation=a1');
  await shows('The first?');
  await forget('a1');
  await vi.waitFor(() => expect(location.search).toBe(''));
});

it('says of a conversation of another browser that it is not here', async () => {
  browser.kept.set('a1', asked('The first?', 'a1'));
  await load('/workspace?conversation=b7');
  await vi.waitFor(() => expect(root.querySelector('.notice.bad')?.textContent).toContain('This browser does not have the conversation of this address.'));
  expect(location.search).toBe('');
  expect(conversation.value.turns).toEqual([]);
});

it('follows a question that was asked before it was known what the browser has', async () => {
  browser.kept.set('a1', asked('The first?', 'a1'));
  await load('/workspace?conversation=a1');
  await shows('The first?');
  // Somebody else logs in: nothing is known of what they have.
  stop();
  settle(asked('Already asked?', 'a9'));
  me.value = { user_id: 'usr_2', account_id: 'acc_1', email: 'other@example.com', role: 'owner' };
  await vi.waitFor(() => expect(opened.value).toBe(true));
  expect([location.search, conversation.value.id]).toEqual(['?conversation=a9', 'a9']);
});

it('waits for what the browser has kept before it follows', async () => {
  browser.kept.set('a1', asked('The first?', 'a1'));
  await load('/workspace?conversation=a1');
  expect(root.querySelector('.notice.bad')).toBeNull();
  await shows('The first?');
});
