// The queue of repairs: where each is, how long it is good for, and another try for what has expired.

import { describe, expect, it, vi } from 'vitest';

import { repairs } from '../src/data/operator';
import { deployments, deploymentsLoading, devices, heard, me, models } from '../src/data/store';
import type { Command } from '../src/data/types';
import { RepairsPage } from '../src/pages/repairs/page';
import { repairStatus, timeLeft, worthRetrying } from '../src/pages/repairs/view';
import '../src/ui/role_notice';
import { Notices } from '../src/ui/notices';
import { go } from '../src/ui/router';
import { deployment, device, model } from './fixtures';
import { accessible, controls, OWNER, place, press, settled } from './placed';
import { spaced } from './spaced';

const here = place();
const HOUR = 3_600_000;

function repair(id: string, more: Partial<Command> = {}): Command {
  return {
    command_id: `cmd_${id}`, type: 'REPAIR_SERVING', state: 'sent', device_id: 'dev_a', model_id: 'mdl_1',
    created_at: `2026-11-20T00:00:0${id}Z`, expires_at: new Date(Date.now() + 23.5 * HOUR).toISOString(), ...more,
  };
}

const ended = (status: 'succeeded' | 'failed' | 'superseded', output = ''): NonNullable<Command['result']> => ({ status, output, reported_at: '2026-11-20T00:00:00Z' });

const QUEUE = [
  repair('1'),
  repair('2', { state: 'expired', device_id: 'dev_b' }),
  repair('3', { state: 'processed', result: ended('failed', 'the engine did not start') }),
  repair('4', { state: 'processed', result: ended('succeeded'), model_id: 'mdl_2' }),
  repair('5', { type: 'STOP_SERVING' }),
];

function serve(items: readonly Command[]): void {
  here.served.answers['/commands'] = ({ query }) => {
    const found = items.filter(({ type }) => type === (query.get('type') ?? type));
    return [200, { items: query.has('open') ? found.filter(({ result, state }) => !result && state !== 'expired') : found }];
  };
  devices.loaded([device('a'), device('b', { online: false })]);
  models.loaded([model('1', { name: 'llama' }), model('2', { name: 'whisper' })]);
  deployments.loaded([deployment('1', 'dev_a'), deployment('2', 'dev_b', { model_id: 'mdl_1' })]);
  deploymentsLoading.value = { state: 'ready', error: null };
}

function open(address = '/repairs'): void {
  go(address);
  here.show(<><RepairsPage /><Notices /></>);
}

describe('the queue of repairs', () => {
  it('is a skeleton, then empty', async () => {
    here.served.answers['/commands'] = [200, { items: [] }];
    open();
    expect(here.root.querySelector('.skeleton')).not.toBeNull();
    await settled('No repair yet');
    await accessible();
  });

  it('failed to load, in the backend’s words', async () => {
    here.served.answers['/commands'] = [422, { status: 422, detail: 'the cursor is unknown' }];
    open();
    await settled('The cursor is unknown.');
    await accessible();
    serve(QUEUE);
    await press('Try again');
    await settled('4 repairs');
  });

  it('shows repairs and no other commands, with the time left and the result', async () => {
    serve(QUEUE);
    open();
    await settled('4 repairs');
    await settled('23 hr left');
    // What is left stands below the state: a column of its own would be empty in most rows.
    expect([...here.root.querySelectorAll('.list-rows .standing')].map((one) => spaced(one.textContent))).toEqual(['Succeeded', 'Failed', 'Expired', 'Sent23 hr left']);
    expect(here.root.textContent).toContain('The engine did not start.');
    expect(here.root.textContent).toContain('Waits until the device acknowledges it.');
    await accessible();
  });

  it('asks for repairs alone, for ten thousand at most, and says so where there are more', async () => {
    const asked: string[] = [];
    here.served.answers['/commands'] = ({ query }) => {
      asked.push(query.get('type') ?? '');
      if (query.has('open')) return [200, { items: [] }];
      const at = Number(query.get('cursor') ?? '0');
      return [200, { items: [repair(`9${at}`, { created_at: '2026-11-20T00:00:00Z' })], next_cursor: `${at + 1}` }];
    };
    open();
    await settled('50 repairs');
    await settled('The newest 10,000 repairs are shown');
    expect(new Set(asked)).toEqual(new Set(['REPAIR_SERVING']));
    expect(asked).toHaveLength(51);
    serve(QUEUE);
    repairs.load();
    await settled('4 repairs');
    expect(here.root.textContent).not.toContain('10,000');
  });

  it('filters by state, model and device in the address', async () => {
    serve(QUEUE);
    open('/repairs?state=expired');
    await settled('1 of 4');
    go('/repairs?model_id=mdl_2');
    await settled('1 of 4');
    go('/repairs?device_id=dev_a');
    await settled('3 of 4');
    await press('Remove the filter a');
    await settled('4 repairs');
  });

  it('finds one device by its name, a tag or its id, the one of exactly this name first', async () => {
    serve(QUEUE);
    devices.loaded([device('a'), device('b', { name: 'lab-10', online: false }), device('c', { name: 'lab-1' })]);
    open();
    await settled('4 repairs');
    const menu = [...here.root.querySelectorAll('details.menu')].find((one) => one.textContent.includes('Choose a device')) as HTMLDetailsElement;
    menu.open = true;
    await vi.waitFor(() => expect(menu.querySelector('input')).not.toBeNull());
    const offers = (): string[] => [...menu.querySelectorAll('fieldset button')].map((one) => one.textContent.replace(/\s+/g, ' ').trim());
    expect(offers()).toEqual(['a', 'lab-1', 'lab-10 offline']);
    await accessible();
    const field = menu.querySelector('input') as HTMLInputElement;
    const type = (words: string): void => {
      field.value = words;
      field.dispatchEvent(new Event('input', { bubbles: true }));
    };
    type('LAB-10');
    await vi.waitFor(() => expect(offers()).toEqual(['lab-10 offline']));
    devices.patched('dev_b', { online: true });
    await vi.waitFor(() => expect(offers()).toEqual(['lab-10']));
    type('nothing');
    await settled('No device matches');
    type('lab-1');
    await vi.waitFor(() => expect(offers()).toEqual(['lab-1', 'lab-10']));
    type('dev_b');
    await vi.waitFor(() => expect(offers()).toEqual(['lab-10']));
    menu.querySelector('form')?.requestSubmit();
    await settled('1 of 4');
    expect(location.search).toBe('?device_id=dev_b');
    await press('Remove the filter lab-10');
    await settled('4 repairs');
  });

  it('filters by what the devices are selected by', async () => {
    serve(QUEUE);
    devices.changed(device('b', { tags: ['lab'] }));
    open('/repairs?select=tag!=lab');
    await settled('3 of 4');
    await press('Remove the filter tag!=lab');
    await settled('4 repairs');
  });

  it('takes what events say', async () => {
    serve([]);
    open();
    await settled('No repair yet');
    heard({ type: 'change', id: null, change: { kind: 'command', id: 'cmd_7', change: 'changed', item: repair('7') } });
    heard({ type: 'change', id: null, change: { kind: 'command', id: 'cmd_8', change: 'changed', item: repair('8', { type: 'STOP_SERVING' }) } });
    await settled('1 repair');
    heard({ type: 'change', id: null, change: { kind: 'command', id: 'cmd_7', change: 'changed', item: repair('7', { state: 'processed', result: ended('succeeded', 'the allowlist is current') }) } });
    await settled('The allowlist is current.');
  });

  it('has a head above the actions only if a row has some', async () => {
    serve([repair('1', { state: 'processed', result: ended('succeeded') })]);
    open();
    await settled('1 repair');
    expect(here.root.querySelector('.without-actions')).not.toBeNull();
    heard({ type: 'change', id: null, change: { kind: 'command', id: 'cmd_2', change: 'changed', item: repair('2', { state: 'expired', device_id: 'dev_b' }) } });
    await vi.waitFor(() => expect(here.root.querySelector('.without-actions')).toBeNull());
  });

  it('retries what has expired, after a preview', async () => {
    serve(QUEUE);
    here.served.answers['/operations'] = ({ body }) =>
      (body as { dry_run?: boolean }).dry_run
        ? [200, { work: {}, devices: 1, first: [{ device_id: 'dev_b', name: 'b', online: false }] }]
        : [403, { status: 403, detail: 'the role viewer lacks serving:operate' }];
    open();
    await press('Retry 1 expired repair…');
    await settled('This touches 1 device');
    await settled('offline');
    await accessible();
    here.served.answers['/me'] = [200, { ...OWNER, role: 'viewer' }];
    await press('Repair 1 deployment');
    await settled('Your role in this account is now Viewer.');
    const { body } = here.served.to('/operations')[1] ?? {};
    expect(body).toEqual({ work: { kind: 'repair', model_id: 'mdl_1' }, devices: ['dev_b'] });
  });

  // Specification, section 3.4.
  it('offers no other try while the device is being updated', async () => {
    serve(QUEUE);
    open();
    const tries = (): number => controls().filter((words) => words === 'Retry').length;
    await vi.waitFor(() => expect(tries()).toBeGreaterThan(0));
    for (const id of ['a', 'b']) devices.changed(device(id, { status: 'updating' }));
    await vi.waitFor(() => expect(tries()).toBe(0));
    await press('Retry 1 expired repair…');
    await settled('Nothing was started: every affected device is updating.');
    expect(here.root.querySelector('dialog')).toBeNull();
  });

  it('offers another try only after the newest repair of a model on its device', async () => {
    const failed = { state: 'processed', result: ended('failed', 'port 8080 is in use') } as const;
    serve([repair('1', failed), repair('2', failed), repair('3', failed), repair('4', { result: ended('succeeded'), device_id: 'dev_b' }), repair('0', { ...failed, device_id: 'dev_b' })]);
    // What a filter leaves out counts too.
    open('/repairs?state=failed');
    await settled('4 of 5');
    const withRetry = (): (string | null | undefined)[] =>
      [...here.root.querySelectorAll('[data-action=repair]')].map((button) => button.closest('[data-id]')?.getAttribute('data-id'));
    expect(withRetry()).toEqual(['cmd_3']);
    await accessible();
  });

  it('offers another port after a failed repair, and asks for it once', async () => {
    serve(QUEUE);
    const result = { status: 'succeeded', output: '', reported_at: '2026-11-20T00:00:02Z' };
    here.served.answers['/models/mdl_1/repair-serving/dev_a'] = [202, repair('9', { state: 'processed', result: result as NonNullable<Command['result']> })];
    here.served.answers['/deployments'] = [200, { items: [deployment('1', 'dev_a', { serving: { state: 'serving', is_serving: true, port: 9000 } })] }];
    open();
    await settled('4 repairs');
    const ports = here.root.querySelectorAll<HTMLElement>('[data-action=port]');
    expect([...ports].map((button) => button.closest('[data-id]')?.getAttribute('data-id'))).toEqual(['cmd_3']);
    ports[0]?.click();
    await settled('Change the port of llama');
    await accessible();
    (document.querySelector('dialog [name=port]') as HTMLInputElement).value = '9000';
    await press('Change the port');
    await settled('llama answers on port 9000 now.');
    expect(here.served.to('/models/mdl_1/repair-serving/dev_a').map(({ query }) => query.get('port'))).toEqual(['9000']);
  });

  it('says that a model is no longer deployed where the repair cannot be sent again', async () => {
    serve(QUEUE);
    deployments.changed(deployment('1', 'dev_a', { removed: true, serving: { state: 'removed', is_serving: false, port: 1 } }));
    open();
    await settled('No longer deployed');
    expect(here.root.querySelector('[data-id=cmd_3] [data-action]')).toBeNull();
    expect(here.root.querySelector('[data-id=cmd_2] [data-action=repair]')).not.toBeNull();
    await accessible();
  });

  it('has no controls for a viewer', async () => {
    me.value = { ...OWNER, role: 'viewer' };
    serve(QUEUE);
    open();
    await settled('4 repairs');
    expect(controls()).not.toContain('Retry');
    expect(controls()).not.toContain('Retry 1 expired repair…');
    expect(here.root.querySelector('.list-head input')).toBeNull();
  });
});

describe('a repair', () => {
  it('stands where its command and its result say', () => {
    expect(QUEUE.map(repairStatus)).toEqual(['sent', 'expired', 'failed', 'succeeded', 'sent']);
    expect(repairStatus(repair('1', { state: 'processed' }))).toBe('processed');
    expect(repairStatus(repair('1', { result: ended('superseded') }))).toBe('superseded');
  });

  it('has time left only until the device has it', () => {
    const expires_at = '2026-11-21T00:00:00Z';
    const now = Date.parse(expires_at) - HOUR;
    expect(timeLeft(repair('1', { expires_at }), now)).toBe(HOUR);
    expect(timeLeft(repair('1', { expires_at }), now + 2 * HOUR)).toBe(0);
    expect(timeLeft(repair('1', { expires_at, state: 'processed' }), now)).toBeNull();
  });

  it('is worth another one only if no newer repair of the same model and device was sent', () => {
    const expired = repair('1', { state: 'expired' });
    const elsewhere = repair('2', { state: 'expired', device_id: 'dev_b' });
    expect(worthRetrying([elsewhere, repair('3', { state: 'processed', result: ended('succeeded') }), expired])).toEqual([elsewhere]);
  });
});
