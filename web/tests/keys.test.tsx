// The page of keys in every state: order, filters, a secret that is shown once, and what a revocation means.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { keyOrder, keyState, tagsOf } from '../src/data/keys';
import { apply, me } from '../src/data/store';
import type { Key } from '../src/data/types';
import { KeysPage } from '../src/pages/keys/page';
import { Notices } from '../src/ui/notices';
import { change, go } from '../src/ui/router';
import { backend, held, type Backend } from './backend';
import { HOSTILE, installer } from './fixtures';
import { accessible, blank, buttons, press, says, show, tick, type } from './page';

const NOW = Date.parse('2026-11-20T00:00:00Z');
const SECRET = 'lrk_0123456789abcdefghij';

function key(id: string, more: Partial<Key> = {}): Key {
  return {
    key_id: `key_${id}`, kind: 'registration', name: id, created_at: '2026-11-01T00:00:00Z', created_by: 'usr_ann',
    devices: 0, tags: [], revoked: false, ...more,
  };
}

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

let root: HTMLElement;
let served: Backend;

/** Answers with keys. As a backend does, it has a key that was created in its list from then on. */
function serve(items: Key[]): void {
  const kept = [...items];
  served.answers['/keys'] = ({ method }) => {
    if (method !== 'POST') return [200, { items: kept }];
    const info = key('new', { name: 'laptop' });
    kept.push(info);
    return [201, { key: SECRET, info }];
  };
}

beforeEach(() => {
  served = backend({ '/members': [200, { items: [{ user_id: 'usr_ann', email: 'ann@example.com', role: 'owner', joined_at: '2026-11-01T00:00:00Z' }] }] });
  serve([]);
  root = blank('owner');
  go('/keys');
});
afterEach(() => {
  show(root, null);
});

describe('the page of keys', () => {
  it('is a skeleton, then empty, and leads to the page that adds a device', async () => {
    show(root, <KeysPage />);
    expect(root.querySelector('.skeleton')).not.toBeNull();
    await accessible();
    await says('No key yet');
    expect(root.querySelector('a[href="/devices/add"]')).not.toBeNull();
    await accessible();
  });

  it('fails in the backend’s words and tries again', async () => {
    served.answers['/keys'] = [500, { status: 500, detail: 'the database is gone' }];
    show(root, <KeysPage />);
    await says('The database is gone.');
    await accessible();
    serve([key('back')]);
    await press('Try again');
    await says('key_back');
  });

  it('has those that end first at the top, with names, states and creators, filtered by the address', async () => {
    serve([
      key('late', { expires_at: inDays(90), kind: 'fleet', max_devices: 5, devices: 2, tags: ['lab'] }),
      key('gone', { revoked: true }),
      key('soon', { expires_at: inDays(2.5) }),
      key('used', { devices: 1 }),
    ]);
    show(root, <KeysPage />);
    await says('ann@example.com');
    const order = (): (string | null)[] => [...root.querySelectorAll('tbody tr')].map((row) => row.getAttribute('data-id'));
    expect(order().slice(0, 2)).toEqual(['key_soon', 'key_late']);
    for (const words of ['Expires soon', 'Valid', 'Revoked', 'Used', '2 of 5', 'in 2 days']) await says(words);
    await accessible();
    change({ show: 'ended' });
    await says('2 of 4 keys');
    change({ show: null, q: 'LAB' });
    await says('1 of 4 keys');
    change({ q: 'nothing fits' });
    await says('No key matches');
    await accessible();
    await press('Clear all');
    await says('4 keys');
    expect(location.search).toBe('');
  });

  it('shows a new key once: it leaves the document with its dialog', async () => {
    show(root, <KeysPage />);
    await press('Create a key');
    await accessible();
    await tick('Many devices');
    await type('Name', ' laptop ');
    await type('Device limit', '5');
    const submit = await press('Create the key');
    submit.click();
    await says(SECRET);
    await says('Copy it now. It is not shown again.');
    await accessible();
    const made = served.to('/keys').filter(({ method }) => method === 'POST');
    expect(made).toHaveLength(1);
    expect(made[0]?.body).toMatchObject({ kind: 'fleet', name: 'laptop', max_devices: 5 });
    await press('Done');
    await vi.waitFor(() => expect(document.body.innerHTML).not.toContain(SECRET));
    await says('laptop');
  });

  it('has the line of each system for a new key, and says what the release lacks', async () => {
    served.answers['/install'] = [200, installer(['linux', 'windows'])];
    show(root, <KeysPage />);
    await press('Create a key');
    await press('Create the key');
    await says(`curl -fsSL http://127.0.0.1/install.sh | LINK_REGISTRATION_KEY=${SECRET} sh`);
    await accessible();
    await press('Windows (PowerShell)');
    await says(`$env:LINK_REGISTRATION_KEY='${SECRET}'; irm http://127.0.0.1/install.ps1 | iex`);
    await press('Windows (PowerShell)');
    await press('macOS');
    await says('publishes no release for macOS');
    expect(document.querySelectorAll('dialog pre')).toHaveLength(1);
    await accessible();
  });

  it('shows a new key also if the backend does not tell its lines', async () => {
    show(root, <KeysPage />);
    await press('Create a key');
    await press('Create the key');
    await says('did not answer with its install lines');
    await says(SECRET);
    await accessible();
  });

  it('says what a revocation means, does it once, and keeps a refusal in the dialog', async () => {
    serve([key('a', { name: 'lab', kind: 'fleet', devices: 3 })]);
    const answer = held<[number, unknown]>();
    served.answers['/keys/key_a'] = () => answer.promise;
    show(root, <><KeysPage /><Notices /></>);
    await press('Revoke lab');
    await says('3 devices registered with it stay registered');
    await accessible();
    const button = await press('Revoke the key');
    button.click();
    answer.keep([403, { status: 403, detail: 'your role does not allow this' }]);
    await says('Your role does not allow this.');
    served.answers['/keys/key_a'] = [204, null];
    await press('Revoke the key');
    await says('lab was revoked.');
    await says('Revoked');
    expect(served.to('/keys/key_a')).toHaveLength(2);
  });

  it('keeps a key in sight that was made, whatever becomes of the role', async () => {
    show(root, <KeysPage />);
    await says('No key yet');
    await press('Create a key');
    await press('Create the key');
    await says(SECRET);
    const before = me.value;
    me.value = before && { ...before, role: 'viewer' };
    await says('This page needs the role Operator');
    expect(document.querySelector('dialog')?.textContent).toContain(SECRET);
    me.value = before;
  });

  it('follows events, and closes the question about a key that somebody else has revoked', async () => {
    serve([key('a')]);
    show(root, <><KeysPage /><Notices /></>);
    await press('Revoke a');
    apply({ kind: 'key', id: 'key_b', change: 'changed', item: key('b') });
    await says('key_b');
    apply({ kind: 'key', id: 'key_a', change: 'changed', item: key('a', { revoked: true }) });
    await vi.waitFor(() => expect(document.querySelector('dialog')).toBeNull());
    apply({ kind: 'key', id: 'key_b', change: 'removed', item: null });
    await vi.waitFor(() => expect(root.textContent).not.toContain('key_b'));
  });

  it('has no control that would be refused', async () => {
    serve([key('a')]);
    root = blank('operator');
    show(root, <KeysPage />);
    await says('key_a');
    expect(buttons()).toEqual([]);
    show(root, null);
    root = blank('viewer');
    show(root, <KeysPage />);
    await says('This page needs the role Operator');
    await accessible();
  });

  it('offers to revoke only what a device can still register with, and says where there is no limit', async () => {
    serve([key('valid'), key('many', { kind: 'fleet', devices: 12 }), key('used', { devices: 1 }), key('late', { expires_at: inDays(-1) }), key('gone', { revoked: true })]);
    show(root, <KeysPage />);
    await says('12, no limit');
    const revocable = [...root.querySelectorAll('tbody .button.danger')].map((button) => button.getAttribute('aria-label'));
    expect(revocable.sort()).toEqual(['Revoke many', 'Revoke valid']);
    await accessible();
  });

  it('shows those that end soon, and takes its question away with the right to revoke', async () => {
    serve([key('soon', { expires_at: inDays(3) }), key('late', { expires_at: inDays(30) }), key('gone', { revoked: true })]);
    show(root, <KeysPage />);
    await says('3 keys');
    change({ show: 'soon' });
    await vi.waitFor(() => expect([...root.querySelectorAll('tbody tr')].map((row) => row.getAttribute('data-id'))).toEqual(['key_soon']));
    await press('Revoke soon');
    await vi.waitFor(() => expect(document.querySelector('dialog')).not.toBeNull());
    const before = me.value;
    me.value = before && { ...before, role: 'operator' };
    await vi.waitFor(() => expect(document.querySelector('dialog')).toBeNull());
  });

  it('shows hostile names as text', async () => {
    serve(HOSTILE.map((name, index) => key(String(index), { name, tags: [name.slice(0, 40)] })));
    show(root, <KeysPage />);
    await says('<img src=x onerror=alert(1)>');
    expect(root.querySelector('img')).toBeNull();
    expect(root.textContent).not.toMatch(/[\u0000\u202e\u200b]/);
    await accessible();
  });
});

describe('a key', () => {
  it.each([
    ['valid', {}],
    ['valid', { expires_at: '2026-12-20T00:00:00Z' }],
    ['soon', { expires_at: '2026-11-26T00:00:00Z' }],
    ['expired', { expires_at: '2026-11-20T00:00:00Z' }],
    ['used', { devices: 1 }],
    ['valid', { devices: 1, kind: 'fleet' }],
    ['used', { devices: 2, kind: 'fleet', max_devices: 2 }],
    ['revoked', { revoked: true, devices: 1 }],
  ] as const)('is %s with %j', (state, more) => {
    expect(keyState(key('a', more), NOW)).toBe(state);
  });

  it('that cannot be used stands behind those that can, also if it ends earlier', () => {
    const order = [key('old', { expires_at: '2026-11-10T00:00:00Z' }), key('endless'), key('soon', { expires_at: '2026-11-21T00:00:00Z' })];
    expect(order.sort(keyOrder(NOW)).map(({ name }) => name)).toEqual(['soon', 'endless', 'old']);
  });

  it('has each of its tags once', () => {
    expect(tagsOf(' lab, ,second floor,lab')).toEqual(['lab', 'second floor']);
  });
});
