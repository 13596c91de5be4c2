// Operations: how far they have come, their results, and that they are cancelled and retried once.

import { describe, expect, it, vi } from 'vitest';

import { heard, me, models } from '../src/data/store';
import type { Operation, OperationDevice } from '../src/data/types';
import { OperationPage } from '../src/pages/operations/one';
import { OperationsPage } from '../src/pages/operations/page';
import { narrow } from '../src/ui/narrow';
import { Notices } from '../src/ui/notices';
import { go } from '../src/ui/router';
import { HOSTILE, model } from './fixtures';
import { accessible, control, controls, OWNER, place, press, settled } from './placed';

const here = place();
const NONE = { pending: 0, sent: 0, succeeded: 0, failed: 0, skipped: 0, cancelled: 0 };

function operation(id: string, more: Partial<Operation> = {}): Operation {
  return {
    operation_id: `opr_${id}`, work: { kind: 'repair', model_id: 'mdl_1' }, state: 'running', devices: 10,
    counts: { ...NONE, pending: 4, sent: 2, succeeded: 3, failed: 1 },
    requested_by: { kind: 'user', id: 'usr' }, created_at: `2026-11-20T00:00:0${id}Z`, ...more,
  };
}

const item = (id: string, more: Partial<OperationDevice> = {}): OperationDevice => ({
  device_id: `dev_${id}`, name: id, state: 'sent', attempts: 1, updated_at: '2026-11-20T00:00:00Z', ...more,
});

const ANN = { user_id: 'usr_ann', email: 'ann@example.com', role: 'operator', joined_at: '2026-11-01T00:00:00Z' };

const told = (changed: Operation): void =>
  heard({ type: 'change', id: null, change: { kind: 'operation', id: changed.operation_id, change: 'changed', item: changed } });

function openList(items: Operation[], address = '/operations'): void {
  here.served.answers['/operations'] = [200, { items }];
  models.loaded([model('1', { name: 'llama' })]);
  go(address);
  here.show(<><OperationsPage /><Notices /></>);
}

function openOne(address = '/operations/opr_1'): void {
  here.served.answers['/operations'] = [200, { items: [] }];
  models.loaded([model('1', { name: 'llama' })]);
  go(address);
  here.show(<><OperationPage /><Notices /></>);
}

describe('the operations', () => {
  it('are empty', async () => {
    openList([]);
    expect(here.root.querySelector('.skeleton')).not.toBeNull();
    await settled('No operation yet');
    await accessible();
  });

  it('failed to load', async () => {
    here.served.answers['/operations'] = [500, { status: 500, detail: 'the database is gone' }];
    go('/operations');
    here.show(<OperationsPage />);
    await settled('The database is gone.');
    await accessible();
  });

  it('come in words, newest first, and follow the stream', async () => {
    openList([
      operation('1'),
      operation('2', { work: { kind: 'tag', tags: ['<b>', 'x'] }, state: 'succeeded', counts: { ...NONE, succeeded: 10 } }),
      operation('3', { work: { kind: 'update', version: '1.3.0' }, state: 'failed', counts: { ...NONE, failed: 10 } }),
    ]);
    await settled('Repair llama');
    await settled('Add the tags <b>, x');
    await settled('3 of 10 devices, 1 failed');
    expect([...here.root.querySelectorAll('.list-rows .list-row')].map((row) => row.getAttribute('data-id'))).toEqual(['opr_3', 'opr_2', 'opr_1']);
    await accessible();
    told(operation('1', { state: 'succeeded', counts: { ...NONE, succeeded: 10 } }));
    await vi.waitFor(() => expect(here.root.textContent).toContain('Succeeded2'));
    go('/operations?state=failed');
    await settled('1 of 3');
  });

  it('count no device as done that was skipped or cancelled', async () => {
    openList([operation('1', { work: { kind: 'untag', tags: ['x'] }, state: 'cancelled', counts: { ...NONE, succeeded: 3, skipped: 2, cancelled: 5 } })]);
    await settled('Remove the tag x');
    await settled('3 of 10 devices, 2 skipped, 5 cancelled');
  });

  it('are as high as their lines on a narrow screen', async () => {
    const heights = (): (string | undefined)[] => [...here.root.querySelectorAll<HTMLElement>('.operation-row[data-id]')].map(({ style }) => style.height);
    openList([operation('1'), operation('2')]);
    await settled('Repair llama');
    expect(heights()).toEqual(['54px', '54px']);
    narrow.value = true;
    try {
      await vi.waitFor(() => expect(heights()).toEqual(['auto', 'auto']));
      await accessible();
    } finally {
      narrow.value = false;
    }
    await vi.waitFor(() => expect(heights()).toEqual(['54px', '54px']));
  });

  it('are cancelled once, after a question', async () => {
    openList([operation('1')]);
    here.served.answers['/operations/opr_1/cancel'] = [202, operation('1', { state: 'cancelled', counts: { ...NONE, cancelled: 10 } })];
    await press('Cancel…: Repair llama');
    await settled('4 devices will not get the request.');
    await accessible();
    const button = await control('Cancel the operation');
    button.click();
    button.click();
    await settled('The operation was cancelled.');
    expect(here.served.to('/operations/opr_1/cancel')).toHaveLength(1);
    await vi.waitFor(() => expect(controls()).not.toContain('Cancel…'));
  });

  it('have only the controls that the role allows', async () => {
    me.value = { ...OWNER, role: 'viewer' };
    openList([operation('1')]);
    await settled('Repair llama');
    expect(controls()).not.toContain('Cancel…');
    expect(controls()).not.toContain('Retry on 1 device…');
  });
});

describe('one operation', () => {
  it('is not there', async () => {
    here.served.answers['/operations/opr_1'] = [404, { status: 404, detail: 'no such operation' }];
    openOne();
    await settled('No such operation');
    await accessible();
  });

  it('failed to load', async () => {
    here.served.answers['/operations/opr_1'] = [500, { status: 500, detail: 'the database is gone' }];
    openOne();
    await settled('The database is gone.');
    await accessible();
  });

  it('names the member who began it, and nobody who is none any more', async () => {
    here.served.answers['/members'] = [200, { items: [ANN] }];
    here.served.answers['/operations/opr_1'] = [200, operation('1', { requested_by: { kind: 'user', id: 'usr_ann' } })];
    here.served.answers['/operations/opr_1/devices'] = [200, { items: [] }];
    openOne();
    await settled('by ann@example.com');
    heard({ type: 'change', id: null, change: { kind: 'member', id: 'usr_ann', change: 'removed', item: null } });
    await settled('by a member');
  });

  it('shows the results of its devices by state, and loads them anew when it has changed', async () => {
    here.served.answers['/operations/opr_1'] = [200, operation('1', { select: 'tag=lab' })];
    let items = [item('a', { name: HOSTILE[0] ?? '' }), item('b', { state: 'failed', detail: 'the device is offline', code: 'offline' })];
    here.served.answers['/operations/opr_1/devices'] = ({ query }) => {
      const state = query.get('state');
      return [200, { items: items.filter((one) => !state || one.state === state) }];
    };
    openOne();
    await settled('The device is offline.');
    expect(here.root.querySelector('img')).toBeNull();
    await accessible();
    go('/operations/opr_1?state=failed');
    await vi.waitFor(() => expect(here.root.querySelectorAll('.list-rows .list-row')).toHaveLength(1));
    items = [item('b', { state: 'failed', detail: 'the engine did not start' })];
    told(operation('1', { counts: { ...NONE, succeeded: 9, failed: 1 }, state: 'failed' }));
    await settled('The engine did not start.');
  });

  it('shows where it has failed first, if it had ended when it was opened', async () => {
    const ended = operation('1', { state: 'failed', counts: { ...NONE, succeeded: 1, failed: 1 }, ended_at: '2026-11-20T00:01:00Z' });
    here.served.answers['/operations/opr_1'] = [200, ended];
    const items = [item('a', { state: 'succeeded' }), item('b', { state: 'failed', detail: 'the device is offline' })];
    here.served.answers['/operations/opr_1/devices'] = ({ query }) => [200, { items: items.filter(({ state }) => state === (query.get('state') ?? state)) }];
    const rows = (): (string | null)[] => [...here.root.querySelectorAll('.list-rows .list-row')].map((row) => row.getAttribute('data-id'));
    openOne();
    await vi.waitFor(() => expect(rows()).toEqual(['dev_b']));
    expect(here.root.querySelector('[aria-pressed=true]')?.textContent).toBe('Failed1');
    await accessible();
    await press('Failed1');
    await vi.waitFor(() => expect(rows()).toEqual(['dev_a', 'dev_b']));
    expect(location.search).toBe('?state=all');
    await press('Failed1');
    await vi.waitFor(() => expect(rows()).toEqual(['dev_b']));
    // A retry has no failure yet.
    go('/operations/opr_1');
    told({ ...ended, state: 'running', counts: { ...NONE, succeeded: 1, pending: 1 } });
    await vi.waitFor(() => expect(rows()).toEqual(['dev_a', 'dev_b']));
  });

  it('is retried where it has failed, and says why it was refused', async () => {
    here.served.answers['/operations/opr_1'] = [200, operation('1', { state: 'failed', counts: { ...NONE, succeeded: 9, failed: 1 } })];
    here.served.answers['/operations/opr_1/devices'] = [200, { items: [] }];
    here.served.answers['/operations/opr_1/retry'] = [409, { status: 409, detail: 'ten operations are running' }];
    openOne();
    await press('Retry on 1 device…: Repair llama');
    await settled('sent again to 1 device');
    await accessible();
    await press('Retry on 1 device');
    await settled('Ten operations are running.');
    here.served.answers['/operations/opr_1/retry'] = [202, operation('1')];
    await press('Retry on 1 device');
    await settled('The operation is retried.');
  });
});
