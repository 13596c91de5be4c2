// The first requests of a page, while the backend does not answer.

import { render } from 'preact';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { App } from '../src/app/app';
import { logOut, resume, session } from '../src/data/session';
import { me, start, stop } from '../src/data/store';
import { backend, PERSON, type Backend } from './backend';

const WORDS = 'The backend is unreachable. Trying again…';

let root: HTMLElement;
let served: Backend;

beforeEach(() => {
  vi.useFakeTimers();
  document.body.innerHTML = '<div id="root"></div>';
  root = document.getElementById('root') as HTMLElement;
  served = backend({ '/me': [200, PERSON] });
  localStorage.setItem('link.csrf', 's');
  session.value = 'unknown';
});
afterEach(() => {
  render(null, root);
  stop();
  vi.useRealTimers();
});

it.each([429, 503])('takes up a login as soon as the backend no longer answers %i', async (status) => {
  served.answers['/me'] = [status, { status }];
  render(<App />, root);
  const resumed = resume();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(root.textContent).toContain(WORDS);
  expect(root.querySelector('.skeleton')).not.toBeNull();
  expect(root.querySelector('.login')).toBeNull();
  served.answers['/me'] = [200, PERSON];
  await vi.advanceTimersByTimeAsync(2_000);
  await resumed;
  expect(session.value).toBe('in');
  await vi.advanceTimersByTimeAsync(100);
  expect(root.textContent).not.toContain(WORDS);
});

it('tries again when the network is back', async () => {
  const answering = globalThis.fetch;
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no network')));
  const resumed = resume();
  await vi.advanceTimersByTimeAsync(100);
  vi.stubGlobal('fetch', answering);
  dispatchEvent(new Event('online'));
  await resumed;
  expect(session.value).toBe('in');
});

it('gives way to a logout', async () => {
  served.answers['/me'] = [503, { status: 503 }];
  const resumed = resume();
  await vi.advanceTimersByTimeAsync(100);
  await logOut();
  await vi.advanceTimersByTimeAsync(3_000);
  await resumed;
  expect(session.value).toBe('out');
  expect(served.to('/me')).toHaveLength(1);
});

it('learns who is logged in as soon as the backend answers', async () => {
  await resume();
  served.answers['/me'] = [503, { status: 503 }];
  render(<App />, root);
  const started = start();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(root.textContent).toContain(WORDS);
  served.answers['/me'] = [200, PERSON];
  await vi.advanceTimersByTimeAsync(2_000);
  await started;
  expect(me.value?.user_id).toBe('usr');
});
