// What can be done to one device beside serving: another port, another account, its older commands, its log by category.

import { describe, expect, it, vi } from 'vitest';

import { commands, deployments, deploymentsLoading, devices, models } from '../src/data/store';
import type { DeviceLog } from '../src/data/types';
import { DevicePage } from '../src/pages/device/page';
import { Notices } from '../src/ui/notices';
import { go } from '../src/ui/router';
import { deployment, device, model } from './fixtures';
import { accessible, controls, place, press, pressInMenu, settled, type } from './placed';

const here = place();

function open(tab: string, more = ''): void {
  devices.loaded([device('a')]);
  models.loaded([model('1', { name: 'llama' })]);
  deployments.loaded([deployment('1', 'dev_a')]);
  deploymentsLoading.value = { state: 'ready', error: null };
  go(`/devices/dev_a?tab=${tab}${more}`);
  here.show(<><DevicePage /><Notices /></>);
}

const command = (id: string, more: object = {}): object => ({
  command_id: `cmd_${id}`, type: 'REPAIR_SERVING', state: 'sent', device_id: 'dev_a', model_id: 'mdl_1',
  created_at: '2026-11-20T00:00:00Z', expires_at: '2026-11-21T00:00:00Z', ...more,
});

describe('the id of a device', () => {
  it('is selected, and that is said, where the browser forbids the clipboard', async () => {
    Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText: () => Promise.reject(new Error('denied')) } });
    open('models');
    await press('Copy the id of the device');
    await settled('Selected');
    expect(getSelection()?.toString()).toBe('dev_a');
    await accessible();
  });
});

describe('a model that is repaired on another port', () => {
  it('is asked for once, with the port that was chosen', async () => {
    open('models');
    const result = { status: 'succeeded', output: '', reported_at: '2026-11-20T00:00:02Z' };
    here.served.answers['/models/mdl_1/repair-serving/dev_a'] = [202, command('1', { state: 'processed', result })];
    const moved = deployment('1', 'dev_a', { serving: { state: 'serving', is_serving: true, port: 9000 } });
    here.served.answers['/deployments'] = [200, { items: [moved] }];
    await pressInMenu('Change port…');
    await accessible();
    await type('dialog [name=port]', '9000');
    await press('Change the port');
    await settled('llama answers on port 9000 now.');
    await settled('Port 9000');
    const asked = here.served.to('/models/mdl_1/repair-serving/dev_a');
    expect(asked.map(({ query }) => query.get('port'))).toEqual(['9000']);
  });

  it('is not offered while the model is not served', async () => {
    open('models');
    deployments.changed(deployment('1', 'dev_a', { serving: { state: 'not_serving', is_serving: false, port: 8080 } }));
    await settled('Not serving');
    document.querySelector('.menu.at-end')?.setAttribute('open', '');
    await settled('Remove…');
    expect(controls()).not.toContain('Change port…');
  });

  it('is started there if its device has given it up, as after another program took its port', async () => {
    open('models');
    deployments.changed(deployment('1', 'dev_a', { serving: { state: 'not_serving', is_serving: false, port: 8080, detail: 'port 8080 is in use by nginx' } }));
    await settled('Port 8080 is in use by nginx');
    const result = { status: 'succeeded', output: '', reported_at: '2026-11-20T00:00:02Z' };
    here.served.answers['/models/mdl_1/serve/dev_a'] = [202, command('1', { state: 'processed', result })];
    here.served.answers['/deployments'] = [200, { items: [deployment('1', 'dev_a', { serving: { state: 'serving', is_serving: true, port: 9000 } })] }];
    await pressInMenu('Change port…');
    await settled('llama is started on the port that you choose.');
    await accessible();
    await type('dialog [name=port]', '9000');
    await press('Change the port');
    await settled('llama answers on port 9000 now.');
    expect(here.served.to('/models/mdl_1/serve/dev_a').map(({ query }) => query.get('port'))).toEqual(['9000']);
    expect(here.served.to('/models/mdl_1/repair-serving/dev_a')).toEqual([]);
  });
});

describe('a transfer to another account', () => {
  it.each([
    ['lrk_one', { registration_key: 'lrk_one' }],
    ['lfk_two', { fleet_key: 'lfk_two' }],
  ])('sends the key %s as what it is, and the device leaves the list', async (key, body) => {
    open('about');
    here.served.answers['/devices/dev_a/transfer'] = [204, null];
    await press('Transfer the device…');
    await settled('it will delete its models');
    await accessible();
    await type('dialog [name=key]', ` ${key} `);
    await press('Transfer the device');
    await settled('now belongs to the other account.');
    expect(here.served.to('/devices/dev_a/transfer').map((asked) => asked.body)).toEqual([body]);
    expect(devices.row('dev_a')).toBeUndefined();
  });

  it('says what is wrong with a key, and sends nothing that is none', async () => {
    open('about');
    here.served.answers['/devices/dev_a/transfer'] = [409, { status: 409, detail: 'the key was used up', hint: 'ask for a new key' }];
    await press('Transfer the device…');
    await type('dialog [name=key]', 'hunter2');
    await press('Transfer the device');
    await settled('This is no key. A key begins with lrk_ or lfk_.');
    expect(here.served.to('/devices/dev_a/transfer')).toEqual([]);
    await type('dialog [name=key]', 'lrk_used');
    await press('Transfer the device');
    await settled('The key was used up. Ask for a new key.');
    expect(devices.row('dev_a')).toBeDefined();
    await accessible();
  });
});

describe('the commands of a device', () => {
  const steps = (): (string | null)[] => [...here.root.querySelectorAll('.timeline li')].map((step) => step.firstChild?.textContent ?? null);
  const explained = (about: object, stage: string, deliveries: number): [number, object] =>
    [200, { command: about, stage, deliveries, device_online: true, happened: 'x', why: '', next: 'y' }];

  it.each([
    [command('1'), 'queued', 0, ['Sent', 'Waits for delivery', 'Expires without an acknowledgement']],
    [command('1'), 'delivered', 2, ['Sent', 'Delivered 2 times', 'Waits for an acknowledgement; the next delivery is due', 'Expires without an acknowledgement']],
    [command('1', { state: 'processed' }), 'acknowledged', 1, ['Sent', 'Delivered', 'Acknowledged', 'Waits for the result']],
    [
      command('1', { state: 'processed', result: { status: 'failed', output: 'no', reported_at: '2026-11-20T00:00:09Z' } }),
      'ended', 1, ['Sent', 'Delivered', 'Acknowledged', 'Failed'],
    ],
    [command('1', { state: 'expired' }), 'expired', 0, ['Sent', 'Expired']],
  ])('have a timeline of what happened and what is expected', async (about, stage, deliveries, expected) => {
    here.served.answers['/commands'] = [200, { items: [about] }];
    here.served.answers['/commands/cmd_1/explanation'] = explained(about, stage, deliveries);
    open('commands');
    await settled('Repair a model');
    here.root.querySelector<HTMLElement>('summary')?.click();
    await vi.waitFor(() => expect(steps()).toEqual(expected));
    await accessible();
  });

  it('that are older are loaded page by page', async () => {
    here.served.answers['/commands'] = ({ query }) => {
      const older = query.get('cursor') === 'c1';
      return older ? [200, { items: [command('2')] }] : [200, { items: [command('1')], next_cursor: 'c1' }];
    };
    open('commands');
    await press('Load older commands');
    await vi.waitFor(() => expect(here.root.querySelectorAll('.command-list > li')).toHaveLength(2));
    expect(controls()).not.toContain('Load older commands');
  });

  it('are kept, with a way to try again, if older ones cannot be loaded', async () => {
    here.served.answers['/commands'] = ({ query }) =>
      query.has('cursor') ? [500, { status: 500, detail: 'the disk is full' }] : [200, { items: [command('1')], next_cursor: 'c1' }];
    open('commands');
    await press('Load older commands');
    await settled('The disk is full.');
    expect(commands.size).toBe(1);
    await vi.waitFor(() => expect(controls()).toContain('Load older commands'));
  });
});

describe('the log of a device', () => {
  const record = (number: number, category: string): DeviceLog => ({
    number, category, received_at: '2026-11-20T00:00:00Z', severity: 'info', message: `record ${number}`,
  });

  it('is narrowed to a category, which is in the address', async () => {
    here.served.answers['/devices/dev_a/logs'] = [200, { items: [record(2, 'security'), record(1, 'engine')], next_cursor: 'c1' }];
    open('logs');
    await settled('record 1');
    await type('[aria-label=Category]', 'security');
    await vi.waitFor(() => expect(here.root.textContent).not.toContain('record 1'));
    expect(here.root.textContent).toContain('record 2');
    expect(location.search).toContain('category=security');
    await accessible();
  });

  it('shows the whole of a long message when its lines are wrapped', async () => {
    const end = 'the last word';
    here.served.answers['/devices/dev_a/logs'] = [200, { items: [{ ...record(1, 'engine'), message: `${'x'.repeat(2_000)} ${end}` }] }];
    open('logs');
    await settled('1 record');
    expect(here.root.textContent).not.toContain(end);
    await press('Wrap lines');
    await settled(end);
    expect(location.search).toContain('wrap=yes');
    await accessible();
    await press('Wrap lines');
    await vi.waitFor(() => expect(here.root.textContent).not.toContain(end));
    expect(location.search).not.toContain('wrap');
  });

  it('offers older records also where no record matches', async () => {
    here.served.answers['/devices/dev_a/logs'] = [200, { items: [record(1, 'engine')], next_cursor: 'c1' }];
    open('logs', '&category=security');
    await settled('The newest record does not match.');
    expect(controls()).toContain('Search older records');
  });

  it('is searched backwards until something is found, or to its end', async () => {
    const pages = [[record(9, 'engine')], [record(8, 'engine')], [record(7, 'security')], [record(6, 'engine')]];
    here.served.answers['/devices/dev_a/logs'] = ({ query }) => {
      const at = Number(query.get('cursor') ?? 0);
      return [200, { items: pages[at], ...(at + 1 < pages.length && { next_cursor: String(at + 1) }) }];
    };
    open('logs', '&category=security');
    await settled('The newest record does not match.');
    await press('Search older records');
    await settled('record 7');
    await accessible();
    await press('Search older records');
    const cursors = (): (string | null)[] => here.served.to('/devices/dev_a/logs').map(({ query }) => query.get('cursor'));
    await vi.waitFor(() => expect(cursors()).toEqual([null, '1', '2', '3']), { timeout: 3_000 });
    await vi.waitFor(() => expect(controls().filter((words) => words.startsWith('Search'))).toEqual([]), { timeout: 3_000 });
  });
});
