// The audit trail: filtered by the address, older entries by cursor, and a file of what the filter shows.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { everyEntry, parametersOf } from '../src/data/audit';
import { devices } from '../src/data/store';
import type { AuditEntry } from '../src/data/types';
import { csvOf } from '../src/pages/audit/csv';
import { AuditPage } from '../src/pages/audit/page';
import { idOf, offeredFor, shownAs } from '../src/pages/audit/targets';
import { change, go } from '../src/ui/router';
import { backend, type Backend } from './backend';
import { device, HOSTILE } from './fixtures';
import { accessible, blank, press, says, show, type } from './page';

function entry(id: string, more: Partial<AuditEntry> = {}): AuditEntry {
  return {
    entry_id: `aud_${id}`, at: '2026-11-20T10:00:00Z', actor: { kind: 'user', id: 'usr_ann' }, action: 'device.rename', subject: 'dev_a',
    outcome: 'done', detail: '', address: '127.0.0.1', ...more,
  };
}

const NONE = { action: '', actor: '', subject: '', since: '', until: '' };

let root: HTMLElement;
let served: Backend;

beforeEach(() => {
  served = backend({
    '/members': [200, { items: [{ user_id: 'usr_ann', email: 'ann@example.com', role: 'owner', joined_at: '2026-11-01T00:00:00Z' }] }],
    '/audit': ({ query }) => (query.get('cursor') ? [200, { items: [entry('2')] }] : [200, { items: [entry('1')], next_cursor: 'c' }]),
  });
  root = blank('admin');
  go('/audit');
});
afterEach(() => {
  show(root, null);
});

describe('the audit trail', () => {
  it('has names beside ids and loads older entries by cursor', async () => {
    devices.changed(device('a', { name: 'workstation' }));
    show(root, <AuditPage />);
    expect(root.querySelector('.skeleton')).not.toBeNull();
    await says('the newest 1 entry');
    await says('workstation');
    expect(root.querySelector('tbody')?.textContent).toContain('ann@example.com');
    // Without a detail the cell is empty, and a phone has no line for it.
    expect(root.querySelector('tbody .detail')?.childNodes).toHaveLength(0);
    await accessible();
    await press('Load older entries');
    await says('2 entries');
    expect(root.querySelectorAll('tbody tr')).toHaveLength(2);
    expect(served.to('/audit').map(({ query }) => query.get('cursor'))).toEqual([null, 'c']);
  });

  it('adds what is new when somebody comes back, and keeps what was loaded', async () => {
    show(root, <AuditPage />);
    await press('Load older entries');
    await says('2 entries');
    const rows = (): string[] => [...root.querySelectorAll('tbody tr')].map((row) => row.textContent);
    const [first] = rows();
    served.answers['/audit'] = [200, { items: [entry('new', { action: 'key.create' }), entry('1')], next_cursor: 'c' }];
    dispatchEvent(new Event('blur'));
    dispatchEvent(new Event('focus'));
    await says('3 entries');
    expect(rows()[0]).toContain('key.create');
    expect(rows()[1]).toBe(first);
    expect(served.to('/audit').at(-1)?.query.get('cursor')).toBeNull();

    // More is new than a page has: what is between would be missing.
    served.answers['/audit'] = [200, { items: [entry('far', { action: 'model.share' })], next_cursor: 'd' }];
    await press('Refresh');
    await says('the newest 1 entry');
    expect(rows()).toHaveLength(1);

    served.answers['/audit'] = [503, { status: 503, detail: 'the database is busy' }];
    await press('Refresh');
    await says('The database is busy');
    expect(rows()).toHaveLength(1);
    served.answers['/audit'] = [200, { items: [entry('last'), entry('far')] }];
    await press('Try again');
    await vi.waitFor(() => expect(rows()).toHaveLength(2));
  });

  it('is filtered by the address, and a click on a name filters', async () => {
    show(root, <AuditPage />);
    await says('1 entry');
    await type('What', 'key');
    await vi.waitFor(() => expect(served.to('/audit').at(-1)?.query.get('action')).toBe('key'));
    expect(location.search).toBe('?action=key');
    root.querySelector<HTMLElement>('.named')?.click();
    await vi.waitFor(() => expect(served.to('/audit').at(-1)?.query.get('actor')).toBe('usr_ann'));
    served.answers['/audit'] = [200, { items: [] }];
    change({ since: '2026-11-01', until: '2026-11-02' });
    await says('No entry matches');
    await accessible();
    const asked = served.to('/audit').at(-1)?.query;
    expect(Date.parse(asked?.get('until') ?? '') - Date.parse(asked?.get('since') ?? '')).toBe(2 * 86_400_000);
    await press('Clear all');
    await says('No entry yet');
    expect(location.search).toBe('');
    await accessible();
  });

  it('has words on each name, and the focus is in the filter that a name has set', async () => {
    devices.changed(device('a', { name: 'workstation' }));
    served.answers['/audit'] = [200, { items: [entry('1'), entry('2', { actor: { kind: 'token', id: 'tok_gone' }, subject: 'key_gone' })] }];
    show(root, <AuditPage />);
    await vi.waitFor(() =>
      expect([...root.querySelectorAll<HTMLElement>('.named')].map(({ title }) => title)).toEqual([
        'Show only entries by ann@example.com', 'Show only entries about workstation', 'Show only entries by tok_gone', 'Show only entries about key_gone',
      ]),
    );
    for (const [parameter, place] of [['actor', 0], ['subject', 1]] as const) {
      const name = root.querySelectorAll<HTMLElement>('.named')[place];
      name?.focus();
      name?.click();
      await vi.waitFor(() => expect(served.to('/audit').at(-1)?.query.has(parameter)).toBe(true));
      expect(document.activeElement?.id).toBe(`audit-${parameter}`);
      await vi.waitFor(() => expect(root.querySelectorAll('.named')).toHaveLength(4));
      expect(document.activeElement?.id).toBe(`audit-${parameter}`);
    }
    expect((document.activeElement as HTMLInputElement).value).toBe('workstation');
    await accessible();
  });

  it('says what was done in words, with the code below, and has the code alone of what it does not know', async () => {
    served.answers['/audit'] = [200, { items: [entry('1'), entry('2', { action: 'device.fold', outcome: 'refused' }), entry('3', { action: 'constructor' })] }];
    show(root, <AuditPage />);
    await says('Rename a device');
    expect([...root.querySelectorAll('.done')].map((one) => one.textContent)).toEqual(['Rename a devicedevice.rename', 'device.foldRefused', 'constructor']);
    await accessible();
  });

  it('is filtered by the name of a target', async () => {
    devices.changed(device('a', { name: 'workstation' }));
    show(root, <AuditPage />);
    await says('1 entry');
    await vi.waitFor(() => expect([...root.querySelectorAll('datalist option')].map((one) => one.getAttribute('value'))).toEqual(['ann@example.com', 'workstation']));
    await type('Target', 'workstation');
    await vi.waitFor(() => expect(served.to('/audit').at(-1)?.query.get('subject')).toBe('dev_a'));
    expect(root.querySelector<HTMLInputElement>('#audit-subject')?.value).toBe('workstation');
    await type('Target', 'key_of_what_was_removed');
    await vi.waitFor(() => expect(served.to('/audit').at(-1)?.query.get('subject')).toBe('key_of_what_was_removed'));
    await accessible();
  });

  it('fails in the backend’s words and tries again', async () => {
    served.answers['/audit'] = [422, { status: 422, detail: 'the filter is too long' }];
    show(root, <AuditPage />);
    await says('The filter is too long.');
    await accessible();
    served.answers['/audit'] = [200, { items: [entry('1', { outcome: 'refused' })] }];
    await press('Try again');
    await says('Refused');
  });

  it('shows hostile details as text, and nothing to who may not read it', async () => {
    served.answers['/audit'] = [200, { items: HOSTILE.map((detail, index) => entry(String(index), { detail, subject: detail.slice(0, 80) })) }];
    show(root, <AuditPage />);
    await says('<img src=x onerror=alert(1)>');
    expect(root.querySelector('img')).toBeNull();
    expect(root.querySelector('tbody')?.textContent).not.toMatch(/[\u0000\u202e\u200b]/);
    await accessible();
    show(root, null);
    root = blank('operator');
    show(root, <AuditPage />);
    await says('This page needs the role Admin');
  });
});

describe('a target by name', () => {
  const names = new Map([['dev_1', 'ward'], ['dev_2', 'ward'], ['mdl_1', 'phi'], ...Array.from({ length: 90 }, (_, at) => [`dev_x${at}`, `desk-${at}`] as const)]);

  it('has its id too if two things have the name', () => {
    expect(shownAs('mdl_1', names)).toBe('phi');
    expect(shownAs('dev_2', names)).toBe('ward · dev_2');
    expect(shownAs('dev_gone', names)).toBe('dev_gone');
    expect(idOf('ward · dev_2', names)).toBe('dev_2');
    expect(idOf(' Phi ', names)).toBe('mdl_1');
    expect(idOf('dev_1', names)).toBe('dev_1');
    expect([idOf('ward', names), idOf('dev_gone', names), idOf('', names)]).toEqual(['ward', 'dev_gone', '']);
  });

  it('is offered with the others that fit, as many as are read', () => {
    expect(offeredFor('WARD', names)).toEqual(['ward · dev_1', 'ward · dev_2']);
    expect(offeredFor('desk', names)).toHaveLength(50);
  });
});

describe('a file of the trail', () => {
  it('has every page of the filter and ends where it says', async () => {
    expect((await everyEntry(NONE, 10, () => undefined)).items.map(({ entry_id }) => entry_id)).toEqual(['aud_1', 'aud_2']);
    const { items, cut } = await everyEntry(NONE, 1, () => undefined);
    expect([items.length, cut]).toEqual([1, true]);
  });

  it('has names, and no formula', () => {
    const file = csvOf([entry('1', { detail: '=1+1', subject: 'dev_a' })], new Map([['dev_a', '@cmd'], ['usr_ann', 'ann@example.com']]));
    expect(file.split('\r\n')[1]).toBe(
      `aud_1,2026-11-20T10:00:00Z,user,usr_ann,ann@example.com,device.rename,done,dev_a,"'@cmd","'=1+1",127.0.0.1`,
    );
  });

  it('takes no filter from a broken day', () => {
    expect(parametersOf({ ...NONE, since: '2026-13-99x', until: 'tomorrow', subject: ' dev_a ' })).toEqual({ subject: 'dev_a' });
  });
});
