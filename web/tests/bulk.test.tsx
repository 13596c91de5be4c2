// What is sent for many devices at once.

import { render } from 'preact';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { devices, devicesLoading, me, stop } from '../src/data/store';
import { DevicesPage } from '../src/pages/devices/page';
import { go } from '../src/ui/router';
import { backend, type Backend } from './backend';
import { device } from './fixtures';

let root: HTMLElement;
let served: Backend;

beforeEach(() => {
  localStorage.setItem('link.csrf', 's');
  const counts = { running: 0, succeeded: 2, failed: 0, skipped: 0 };
  served = backend({
    '/operations': ({ body }) =>
      (body as { dry_run?: boolean }).dry_run
        ? [200, { work: { kind: 'tag', tags: ['x'] }, devices: 2, first: [] }]
        : [202, { operation_id: 'opr_1', state: 'completed', devices: 2, counts }],
  });
  document.body.innerHTML = '<div id="root"></div>';
  root = document.getElementById('root') as HTMLElement;
  stop();
  me.value = { user_id: 'usr', account_id: 'acc', email: 'owner@example.com', role: 'owner' };
});
afterEach(() => {
  render(null, root);
});

async function press(words: string): Promise<void> {
  await vi.waitFor(() => {
    const found = [...document.querySelectorAll('button')].find((button) => button.textContent?.trim() === words);
    if (!found) throw new Error(`there is no button ${words}`);
    found.click();
  });
}

it('touches exactly the ticked devices, also if one comes while the dialog is open', async () => {
  go('/devices?select=state=online');
  devices.loaded([device('one'), device('two'), device('away', { online: false })]);
  devicesLoading.value = { state: 'loading', error: null };
  render(<DevicesPage />, root);
  // While more may come, there is no all.
  const all = await vi.waitFor(() => {
    const found = root.querySelector<HTMLInputElement>('.table-head input');
    if (!found) throw new Error('there is no table');
    return found;
  });
  expect([all.disabled, all.title]).toEqual([true, 'All rows can be selected once the list is loaded']);
  devicesLoading.value = { state: 'ready', error: null };
  await vi.waitFor(() => expect([all.disabled, all.title]).toEqual([false, 'Select all 2 devices that match']));
  all.click();
  await press('Add tags…');
  devices.changed(device('late'));
  const field = await vi.waitFor(() => {
    const found = document.querySelector<HTMLInputElement>('#bulk-words');
    if (!found) throw new Error('there is no field');
    return found;
  });
  field.value = 'x';
  await press('Preview');
  await press('Apply to 2 devices');
  await vi.waitFor(() => expect(served.to('/operations')).toHaveLength(2));
  const [plan, begin] = served.to('/operations');
  const work = { kind: 'tag', tags: ['x'] };
  expect(plan?.body).toEqual({ work, dry_run: true, devices: ['dev_one', 'dev_two'] });
  expect(begin?.body).toEqual({ work, devices: ['dev_one', 'dev_two'] });
});

it('has a new idempotency key for each preview', async () => {
  go('/devices');
  const keys = new Set<string | null>();
  const answer = served.answers['/operations'];
  served.answers['/operations'] = (asked) => {
    if ((asked.body as { dry_run?: boolean }).dry_run && typeof answer === 'function') return answer(asked);
    keys.add(asked.headers.get('idempotency-key'));
    return [503, { status: 503, detail: 'the backend is overloaded' }];
  };
  devices.loaded([device('one'), device('two')]);
  devicesLoading.value = { state: 'ready', error: null };
  render(<DevicesPage />, root);
  await vi.waitFor(() => expect(root.querySelectorAll('[role=table]')).toHaveLength(1));
  root.querySelector<HTMLInputElement>('.table-head input')?.click();
  await press('Add tags…');
  for (const words of ['x', 'y']) {
    const field = await vi.waitFor(() => document.querySelector<HTMLInputElement>('#bulk-words') as HTMLInputElement);
    field.value = words;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await press('Preview');
    await press('Apply to 2 devices');
    await vi.waitFor(() => expect(document.body.textContent).toContain('The backend is overloaded.'));
  }
  expect(keys.size).toBe(2);
});

it('takes its dialog away with the right to operate devices', async () => {
  go('/devices');
  devices.loaded([device('one')]);
  devicesLoading.value = { state: 'ready', error: null };
  render(<DevicesPage />, root);
  await vi.waitFor(() => expect(root.querySelector('.device-row[data-state] input')).not.toBeNull());
  root.querySelector<HTMLInputElement>('.device-row[data-state] input')?.click();
  await press('Add tags…');
  await vi.waitFor(() => expect(document.querySelector('dialog')).not.toBeNull());
  me.value = { user_id: 'usr', account_id: 'acc', email: 'owner@example.com', role: 'viewer' };
  await vi.waitFor(() => expect(document.querySelector('dialog')).toBeNull());
  expect(served.to('/operations')).toEqual([]);
});
