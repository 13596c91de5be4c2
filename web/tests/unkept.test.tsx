// A browser that keeps nothing of the workspace: it says so where a person looks for it, asks before something is lost, and keeps
// what it has refused as soon as there is room.

import { render } from 'preact';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { unsent } from '../src/app/newer';
import { deployments, deploymentsLoading, devices, devicesLoading, me, models, modelsLoading, stop } from '../src/data/store';
import { forget, forgetAll, opened, settle } from '../src/pages/workspace/keeping';
import { WorkspacePage } from '../src/pages/workspace/page';
import { write } from '../src/pages/workspace/state';
import { fresh, type Conversation } from '../src/workspace/conversations';
import { StorageRefused } from '../src/workspace/storage';
import { backend } from './backend';
import { deployment, device, model } from './fixtures';
import { Memory } from './memory_storage';

let room = false;
const browser = new Memory();
browser.refuse = (what) => {
  if (!room && what === 'keep') throw new StorageRefused('full', null);
};

vi.mock('../src/workspace/storage', async (original) => ({
  ...(await original<typeof import('../src/workspace/storage')>()),
  Storage: (await import('./memory_storage')).storageOf(() => browser),
}));

let root: HTMLElement;

const leaves = (): boolean => {
  const event = new Event('beforeunload', { cancelable: true });
  dispatchEvent(event);
  return !event.defaultPrevented;
};
const settled = (words: string): Promise<void> => vi.waitFor(() => expect(document.body.textContent).toContain(words), { timeout: 4_000 });
const asked = (question: string): Conversation => {
  const turn = { id: question, question, answer: 'Yes.', thought: '', figures: null, model: 'm', state: 'complete' } as const;
  return { ...fresh(Date.now()), turns: [turn] };
};

beforeEach(async () => {
  stop();
  sessionStorage.clear();
  room = false;
  browser.kept.clear();
  backend({});
  document.body.innerHTML = '<main><div id="root"></div></main>';
  root = document.getElementById('root') as HTMLElement;
  me.value = { user_id: 'usr_1', account_id: 'acc_1', email: 'owner@example.com', role: 'owner' };
  devices.loaded([device('a')]);
  models.loaded([model('a', { plugin: 'language_model' })]);
  deployments.loaded([deployment('a', 'dev_a')]);
  for (const loading of [devicesLoading, modelsLoading, deploymentsLoading]) loading.value = { state: 'ready', error: null };
  render(<WorkspacePage />, root);
  await vi.waitFor(() => expect(opened.value).toBe(true));
  await vi.waitFor(() => expect(root.querySelector('#message')).not.toBeNull());
});
afterEach(async () => {
  render(null, root);
  write('');
  await forgetAll();
  vi.restoreAllMocks();
});

it('is said in the list of conversations too, and to leave asks first', async () => {
  expect(leaves()).toBe(true);
  settle(asked('Is it kept?'));
  await settled('The storage of this browser is full');
  const list = root.querySelector('.history')?.textContent;
  expect(list).toContain('What is new is not kept');
  expect(list).not.toContain('Kept in this browser only');
  expect(leaves()).toBe(false);
  await forgetAll();
  expect(leaves()).toBe(true);
});

it('ends when older conversations make room: what was refused is kept then', async () => {
  const [old, recent] = [asked('old'), asked('new')];
  settle(old);
  settle(recent);
  await settled('The storage of this browser is full');
  await forget('another');
  await settled('The storage of this browser is full');
  room = true;
  await forget(old.id);
  expect([...browser.kept.keys()]).toEqual([recent.id]);
  await vi.waitFor(() => expect(root.textContent).not.toContain('The storage of this browser is full'));
  expect(leaves()).toBe(true);
});

it('promises for no draft that a reload keeps it', async () => {
  write('kept');
  await vi.waitFor(() => expect(root.querySelector('#message[data-kept]')).not.toBeNull());
  vi.spyOn(globalThis.Storage.prototype, 'setItem').mockImplementation(() => {
    throw new DOMException('full', 'QuotaExceededError');
  });
  write('kept no more');
  await vi.waitFor(() => expect(unsent()?.id).toBe('message'));
  expect(leaves()).toBe(false);
  write('');
  expect(leaves()).toBe(true);
});
