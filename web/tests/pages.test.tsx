// Every state of the pages, each without an accessibility violation. jsdom draws nothing, so colours are checked elsewhere.

import axe from 'axe-core';
import { render } from 'preact';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { paletteOpen } from '../src/app/palette';
import { Shell } from '../src/app/shell';
import { Problem } from '../src/data/problem';
import { session } from '../src/data/session';
import { deployments, deploymentsLoading, devices, devicesLoading, live, me, stop } from '../src/data/store';
import { DevicePage } from '../src/pages/device/page';
import { DevicesPage } from '../src/pages/devices/page';
import { Login } from '../src/pages/entry/login_form';
import { Notices, notice } from '../src/ui/notices';
import { change, go } from '../src/ui/router';
import { deployment, device, HOSTILE } from './fixtures';

type Answer = [number, unknown];
let answers: Record<string, Answer>;
let root: HTMLElement;

beforeEach(() => {
  localStorage.setItem('link.csrf', 's');
  answers = {};
  vi.stubGlobal('fetch', async (request: Request | string) => {
    const path = new URL(typeof request === 'string' ? request : request.url, location.href).pathname.slice('/api/v1'.length);
    const [status, body] = answers[path] ?? [404, { status: 404, title: 'Not found', detail: 'nothing here', code: 'not-found' }];
    return Promise.resolve(new Response(JSON.stringify(body), { status }));
  });
  document.body.innerHTML = '<div id="root"></div>';
  root = document.getElementById('root') as HTMLElement;
  go('/devices');
  stop();
  me.value = { user_id: 'usr', account_id: 'acc', email: 'owner@example.com', role: 'owner' };
});
afterEach(() => {
  render(null, root);
});

async function settled(words: string): Promise<void> {
  await vi.waitFor(() => expect(document.body.textContent).toContain(words), { timeout: 3_000 });
}

async function accessible(): Promise<void> {
  const rules = { 'color-contrast': { enabled: false }, region: { enabled: false } };
  const { violations } = await axe.run(document.body, { rules });
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join('\n')}`)).toEqual([]);
}

function press(words: string): void {
  const buttons = [...document.querySelectorAll<HTMLElement>('button, summary')];
  const found = buttons.find((button) => button.textContent?.trim() === words);
  if (!found) throw new Error(`there is no button ${words}`);
  found.click();
}

describe('the list of devices', () => {
  it('is a skeleton while it loads', async () => {
    render(<DevicesPage />, root);
    expect(root.querySelector('.skeleton')).not.toBeNull();
    await accessible();
  });

  it('says how to begin with no device', async () => {
    devicesLoading.value = { state: 'ready', error: null };
    render(<DevicesPage />, root);
    await settled('No device yet');
    expect(root.querySelector('.filters')).toBeNull();
    await accessible();
  });

  it('says in the backend’s words why it failed, and tries again', async () => {
    const problem = new Problem(503, { detail: 'the backend is overloaded', hint: 'retry in a minute', request_id: 'r1' }, 30);
    devicesLoading.value = { state: 'failed', error: problem };
    render(<DevicesPage />, root);
    await settled('The backend is overloaded.');
    await settled('Retry after 30 seconds.');
    await accessible();
    answers['/devices'] = [200, { items: [device('back')] }];
    press('Try again');
    await settled('back');
  });

  it('shows hostile names as text, in a table with all counts', async () => {
    devices.loaded(HOSTILE.map((name, index) => device(String(index), { name, tags: [name.slice(0, 40)] })));
    devicesLoading.value = { state: 'ready', error: null };
    render(<DevicesPage />, root);
    await settled('<img src=x onerror=alert(1)>');
    expect(root.querySelector('img')).toBeNull();
    expect(root.querySelector('[role=table]')?.getAttribute('aria-rowcount')).toBe(String(HOSTILE.length + 1));
    expect(root.textContent).not.toMatch(/[\u0000\u202e\u200b]/);
    await accessible();
  });

  it('filters by the address, offers filters with counts, and removes them', async () => {
    devices.loaded([device('here'), device('away', { online: false })]);
    devicesLoading.value = { state: 'ready', error: null };
    render(<DevicesPage />, root);
    await settled('2 devices');
    change({ select: 'state=offline' });
    await settled('1 of 2 devices');
    press('Add a filter');
    await settled('Version');
    await accessible();
    change({ q: 'nothing fits' });
    await settled('No device matches');
    await accessible();
    press('Clear all');
    await settled('2 devices');
    expect(location.search).toBe('');
  });

  it('selects all that fit and previews what an action touches', async () => {
    devices.loaded([device('one'), device('two')]);
    devicesLoading.value = { state: 'ready', error: null };
    answers['/operations'] = [200, { work: { kind: 'tag', tags: ['x'] }, devices: 2, first: [{ device_id: 'dev_one', name: 'one', online: false }] }];
    render(<DevicesPage />, root);
    await settled('2 devices');
    root.querySelector<HTMLInputElement>('.table-head input')?.click();
    await settled('2 selected');
    await accessible();
    press('Add tags…');
    await settled('Several tags');
    await accessible();
    const field = document.querySelector<HTMLInputElement>('#bulk-words');
    if (field) field.value = 'x';
    press('Preview');
    await settled('This touches 2 devices');
    await settled('and 1 more');
    await accessible();
  });
});

describe('a device', () => {
  const open = async (tab: string, words: string): Promise<void> => {
    go(`/devices/dev_a?tab=${tab}`);
    render(<DevicePage />, root);
    await settled(words);
    await accessible();
  };

  it('is not there', async () => {
    await open('models', 'No such device');
  });

  it('is not there if the address is broken', async () => {
    go('/devices/%');
    render(<DevicePage />, root);
    await settled('No such device');
  });

  it('failed to load, in the backend’s words', async () => {
    answers['/devices/dev_a'] = [500, { status: 500, detail: 'the database is gone' }];
    await open('models', 'The database is gone.');
  });

  it('offers Repair where the allowlist is stale, and asks before it removes', async () => {
    devices.loaded([device('a', { last_update: { from: '1.2.0', to: '1.3.0', outcome: 'rolled_back', reason: 'it crashed' } })]);
    deployments.loaded([
      deployment('1', 'dev_a', { stale: true }),
      deployment('2', 'dev_a', { state: 'downloading', progress: { bytes_done: 5, bytes_total: 10 } }),
      deployment('3', 'dev_a', { state: 'failed', reason: 'no space left', serving: null }),
    ]);
    await open('models', 'Stale allowlist');
    const actions = [...root.querySelectorAll('.actions')].map((group) => [...group.children].map((one) => one.textContent));
    expect(actions).toEqual([['Repair', 'Stop', 'More'], ['Cancel'], ['Redeploy', 'Dismiss']]);
    root.querySelector('.actions details')?.setAttribute('open', '');
    await settled('Change port…');
    expect([...root.querySelectorAll('.menu-item')].map((one) => one.textContent)).toEqual(['Redeploy', 'Change port…', 'Remove…']);
    await accessible();
    press('Remove…');
    await settled('will be deleted from this device');
    await accessible();
  });

  it('repairs a stopped model for its next start, and promises no more', async () => {
    devices.loaded([device('a')]);
    deployments.loaded([deployment('1', 'dev_a', { stale: true, serving: { state: 'not_serving', is_serving: false, port: 8080 } })]);
    await open('models', 'Repair it to let those pages in after its next start.');
    expect(root.textContent).not.toContain('The model keeps running');
    expect([...root.querySelectorAll('.actions button')].map((one) => one.textContent)).toEqual(['Repair', 'Serve']);
  });

  it('has no controls while it updates', async () => {
    devices.loaded([device('a', { status: 'updating' })]);
    deployments.loaded([deployment('1', 'dev_a')]);
    await open('models', 'being updated');
    expect(root.querySelector('[data-action]')).toBeNull();
  });

  it('has no models', async () => {
    devices.loaded([device('a')]);
    deploymentsLoading.value = { state: 'ready', error: null };
    await open('models', 'No model on this device');
  });

  it('shows its log, and an empty one', async () => {
    devices.loaded([device('a')]);
    const message = '<b>bold</b> \u202e';
    const record = { number: 1, received_at: '2026-11-20T00:00:00Z', severity: 'warning', category: 'engine', message };
    answers['/devices/dev_a/logs'] = [200, { items: [record] }];
    await open('logs', '1 record');
    render(null, root);
    answers['/devices/dev_a/logs'] = [200, { items: [] }];
    await open('logs', 'No record yet');
  });

  it('shows its commands with their explanation', async () => {
    devices.loaded([device('a')]);
    const command = {
      command_id: 'cmd_1', type: 'REPAIR_SERVING', state: 'sent', device_id: 'dev_a',
      created_at: '2026-11-20T00:00:00Z', expires_at: '2026-11-21T00:00:00Z',
    };
    answers['/commands'] = [200, { items: [command] }];
    answers['/commands/cmd_1/explanation'] = [200, { command, stage: 'queued', deliveries: 0, device_online: false, happened: 'nothing yet', why: 'the device is offline', next: 'it waits' }];
    await open('commands', 'Repair a model');
    root.querySelector<HTMLElement>('summary')?.click();
    await settled('The device is offline.');
    await accessible();
  });

  it('is removed only after its name was typed', async () => {
    devices.loaded([device('a')]);
    await open('about', 'Identity');
    press('Remove the device…');
    await settled('Type a to confirm');
    await accessible();
    const confirm = [...document.querySelectorAll<HTMLButtonElement>('dialog button')].find((one) => one.textContent === 'Remove the device');
    expect(confirm?.disabled).toBe(true);
    const field = document.querySelector<HTMLInputElement>('#remove-name');
    if (field) field.value = 'a';
    field?.dispatchEvent(new Event('input', { bubbles: true }));
    await vi.waitFor(() => expect(confirm?.disabled).toBe(false));
  });
});

describe('the frame', () => {
  it('has the login, and says that a session has ended', async () => {
    render(<Login ended />, root);
    await settled('Your session has ended');
    await accessible();
  });

  it('says how old the page is, opens the palette, and closes notices', async () => {
    session.value = 'in';
    me.value = { user_id: 'usr', account_id: 'acc', email: 'owner@example.com', role: 'owner' };
    live.value = { state: 'lost', since: Date.now() - 40_000 };
    devices.loaded([device('findable')]);
    render(<><Shell><h1>Page</h1></Shell><Notices /></>, root);
    await settled('seconds old. Reconnecting');
    notice('Something failed.', 'bad');
    await settled('Something failed.');
    dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }));
    await settled('results');
    const field = document.querySelector<HTMLInputElement>('[role=combobox]');
    if (field) field.value = 'findable';
    field?.dispatchEvent(new Event('input', { bubbles: true }));
    await settled('1 result');
    await accessible();
    field?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    expect(location.pathname).toBe('/devices/dev_findable');
    expect(paletteOpen.value).toBe(false);
  });
});
