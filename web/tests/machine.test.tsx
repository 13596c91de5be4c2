// The page that lets a machine log in, after too many wrong codes: the form for the code says how long to wait.

import { render } from 'preact';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { MachinePage } from '../src/pages/entry/machine';
import { accessible, place, settled } from './placed';

const here = place();
const INQUIRE = '/auth/device/inquire';
const WAIT = 'Too many attempts. Wait 3 seconds, then try again.';
const PENDING = {
  user_code: 'WDJB-MJHT', client_name: 'link on box', address: '192.0.2.7',
  created_at: '2026-11-20T00:00:00Z', expires_at: '2026-11-20T00:10:00Z',
};

const field = (): HTMLInputElement => here.root.querySelector('[name=user-code]') as HTMLInputElement;
const submit = (): HTMLButtonElement => here.root.querySelector('form button') as HTMLButtonElement;
const words = (selector: string): (string | null)[] => [...here.root.querySelectorAll(`form ${selector}`)].map(({ textContent }) => textContent);

function send(code: string): void {
  field().value = code;
  here.root.querySelector('form')?.dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true }));
}

const HINT = 'wait for the time in the Retry-After header before you try again';
const refusal = (headers: Record<string, string>): [number, unknown, Record<string, string>] =>
  [429, { status: 429, code: 'too-many-attempts', detail: 'too many attempts; wait a while', hint: HINT }, headers];

beforeEach(async () => {
  here.served.answers[INQUIRE] = refusal({ 'retry-after': '3' });
  here.show(<main><MachinePage /></main>);
  await settled('Approve a login');
});
afterEach(() => {
  vi.useRealTimers();
  render(null, here.root);
});

it('says at the form how long the backend wants a pause, and counts down', async () => {
  vi.useFakeTimers();
  send('AAAA-AAAA');
  await vi.waitFor(() => expect(words('[role=alert]')).toEqual([WAIT]));
  // The wait is shown once and announced once.
  expect(words('.form-error')).toEqual([WAIT]);
  expect(field().value).toBe('AAAA-AAAA');
  expect(submit().disabled).toBe(true);
  send('AAAA-AAAB');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(words('.form-error')).toEqual(['Too many attempts. Wait 2 seconds, then try again.']);
  expect(words('[role=alert]')).toEqual([WAIT]);
  expect(here.served.to(INQUIRE)).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(words('[role=alert]')).toEqual(['You can try again.']);
  expect(submit().disabled).toBe(false);
  here.served.answers[INQUIRE] = [200, PENDING];
  send('WDJB-MJHT');
  await vi.waitFor(() => expect(here.root.textContent).toContain('Is this your machine?'));
  expect(here.served.to(INQUIRE).map(({ body }) => body)).toEqual([{ user_code: 'AAAA-AAAA' }, { user_code: 'WDJB-MJHT' }]);
});

it('waits a minute if the backend names no time, and gives long pauses in minutes', async () => {
  here.served.answers[INQUIRE] = refusal({});
  send('AAAA-AAAA');
  await settled('Wait 60 seconds');
  expect(submit().disabled).toBe(true);
  render(null, here.root);
  here.served.answers[INQUIRE] = refusal({ 'retry-after': '840' });
  here.show(<main><MachinePage /></main>);
  send('AAAA-AAAA');
  await settled('Wait 14 minutes');
  await accessible();
});
