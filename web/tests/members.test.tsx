// The pages of members and of API tokens in every state, and two people who change one thing.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { apply } from '../src/data/store';
import type { Member, Token } from '../src/data/types';
import { MembersPage } from '../src/pages/members/page';
import { TokensPage } from '../src/pages/tokens/page';
import { scopesOf } from '../src/pages/tokens/scopes';
import { Notices } from '../src/ui/notices';
import { go } from '../src/ui/router';
import { backend, type Backend } from './backend';
import { HOSTILE } from './fixtures';
import { accessible, blank, buttons, press, says, show, tick, type } from './page';

function member(id: string, more: Partial<Member> = {}): Member {
  return { user_id: `usr_${id}`, email: `${id}@example.com`, role: 'operator', joined_at: '2026-11-01T00:00:00Z', ...more };
}

const ME = member('me', { role: 'owner' });

let root: HTMLElement;
let served: Backend;

beforeEach(() => {
  served = backend({ '/members': [200, { items: [ME, member('bob')] }], '/members/invitations': [200, { items: [] }] });
  root = blank('owner');
  go('/members');
});
afterEach(() => {
  show(root, null);
});

describe('the page of members', () => {
  const open = async (): Promise<void> => {
    show(root, <><MembersPage /><Notices /></>);
    await says('bob@example.com');
  };

  it('shows roles, and protects the last owner', async () => {
    show(root, <MembersPage />);
    expect(root.querySelector('.skeleton')).not.toBeNull();
    await says('bob@example.com');
    await says('The last owner stays an owner.');
    await says('No invitation is open.');
    await accessible();
    expect(buttons()).toEqual(['Invite a member', 'Change role of bob@example.com', 'Remove bob@example.com']);
  });

  it('fails in the backend’s words and tries again', async () => {
    served.answers['/members'] = [503, { status: 503, detail: 'the backend is overloaded' }];
    show(root, <MembersPage />);
    await says('The backend is overloaded.');
    await accessible();
    served.answers['/members'] = [200, { items: [ME] }];
    await press('Try again');
    await says('me@example.com');
  });

  it('changes a role', async () => {
    served.answers['/members/usr_bob'] = ({ body }) => [200, { ...member('bob'), ...(body as object) }];
    await open();
    await press('Change role of bob@example.com');
    await accessible();
    await tick('Viewer');
    const save = await press('Change the role');
    save.click();
    await says('bob@example.com has the role Viewer.');
    expect(served.to('/members/usr_bob').map(({ body }) => body)).toEqual([{ role: 'viewer' }]);
  });

  it('tells the second of two people, by the event or by a look before it writes, and overwrites nothing', async () => {
    served.answers['/members/usr_bob'] = ({ body }) => [200, { ...member('bob'), ...(body as object) }];
    await open();
    await press('Change role of bob@example.com');
    await tick('Viewer');
    apply({ kind: 'member', id: 'usr_bob', change: 'changed', item: member('bob', { role: 'admin' }) });
    await says('Somebody else changed this role to Admin');
    await tick('Viewer');
    served.answers['/members'] = [200, { items: [ME, member('bob', { role: 'owner' })] }];
    await press('Change the role');
    await says('Somebody else changed this role to Owner');
    expect(served.to('/members/usr_bob')).toEqual([]);
    await accessible();
    apply({ kind: 'member', id: 'usr_bob', change: 'removed', item: null });
    await says('This member was removed in the meantime.');
  });

  it('asks what happens to the keys of who goes', async () => {
    const key = { key_id: 'key_1', kind: 'fleet', name: 'lab', created_at: '2026-11-01T00:00:00Z', devices: 1, tags: [], revoked: false };
    served.answers['/keys'] = [200, { items: [key, { ...key, key_id: 'key_2', revoked: true }] }];
    served.answers['/members/usr_bob'] = [200, { user_id: 'usr_bob', revoked: [], taken_over: [key] }];
    await open();
    await press('Remove bob@example.com');
    await says('1 key of this member can still register devices:');
    await accessible();
    await tick('Take these keys over');
    const button = await press('Remove the member');
    button.click();
    await says('bob@example.com was removed. You took over 1 key.');
    const [removal, ...more] = served.to('/members/usr_bob');
    expect([removal?.method, removal?.query.get('keys'), more]).toEqual(['DELETE', 'take_over', []]);
    await vi.waitFor(() => expect(root.querySelector('[data-id=usr_bob]')).toBeNull());
  });

  it('invites with a link that is shown once, and withdraws an invitation', async () => {
    const info = { invitation_id: 'inv_1', role: 'viewer', email: 'eve@example.com', created_at: '2026-11-01T00:00:00Z', expires_at: '2030-11-01T00:00:00Z' };
    served.answers['/members/invitations'] = ({ method }) => (method === 'POST' ? [201, { invitation_token: 'lit_secret', info }] : [200, { items: [] }]);
    served.answers['/members/invitations/inv_1'] = [204, null];
    await open();
    await press('Invite a member');
    await accessible();
    await type('E-mail', ' eve@example.com ');
    await tick('Viewer');
    await press('Create the invitation');
    await says('http://127.0.0.1/invite#lit_secret');
    await accessible();
    const [made] = served.to('/members/invitations').filter(({ method }) => method === 'POST');
    expect(made?.body).toMatchObject({ role: 'viewer', email: 'eve@example.com' });
    await press('Done');
    await vi.waitFor(() => expect(document.body.innerHTML).not.toContain('lit_secret'));
    await press('Withdraw the invitation for eve@example.com');
    await says('The invitation was withdrawn.');
    await says('No invitation is open.');
  });

  it('has the invitations of others once one is accepted, and when somebody comes back', async () => {
    const waits = (id: string): object => ({ invitation_id: `inv_${id}`, role: 'viewer', email: `${id}@example.com`, created_at: '2026-11-01T00:00:00Z', expires_at: '2030-11-01T00:00:00Z' });
    served.answers['/members/invitations'] = [200, { items: [waits('eve')] }];
    await open();
    await says('eve@example.com');
    served.answers['/members/invitations'] = [200, { items: [waits('max')] }];
    apply({ kind: 'member', id: 'usr_eve', change: 'changed', item: member('eve') });
    await says('max@example.com');
    served.answers['/members/invitations'] = [200, { items: [] }];
    dispatchEvent(new Event('focus'));
    dispatchEvent(new Event('blur'));
    expect(served.to('/members/invitations')).toHaveLength(2);
    dispatchEvent(new Event('focus'));
    await says('No invitation is open.');
    dispatchEvent(new Event('focus'));
    expect(served.to('/members/invitations')).toHaveLength(3);
    show(root, null);
    dispatchEvent(new Event('blur'));
    dispatchEvent(new Event('focus'));
    expect(served.to('/members/invitations')).toHaveLength(3);
  });

  it('gives an admin no power over owners, and a viewer none at all', async () => {
    root = blank('admin');
    served.answers['/members'] = [200, { items: [member('boss', { role: 'owner' }), member('boss2', { role: 'owner' }), member('bob')] }];
    show(root, <MembersPage />);
    await says('bob@example.com');
    expect(buttons()).toEqual(['Invite a member', 'Change role of bob@example.com', 'Remove bob@example.com']);
    await press('Change role of bob@example.com');
    await says('Deploys, repairs');
    expect(document.querySelector('dialog')?.textContent).not.toContain('owners included');
    show(root, null);
    root = blank('viewer');
    show(root, <MembersPage />);
    await says('bob@example.com');
    expect(buttons()).toEqual([]);
    await accessible();
  });
});

describe('the page of API tokens', () => {
  const token = (id: string, more: Partial<Token> = {}): Token => ({
    token_id: `tok_${id}`, name: id, scopes: ['account:read', 'devices:read'], created_at: '2026-11-01T00:00:00Z', expires_at: '2030-11-01T00:00:00Z', ...more,
  });

  it('is empty, then creates a token that is shown once', async () => {
    served.answers['/tokens'] = ({ method }) => (method === 'POST' ? [201, { token: 'lpt_secret', info: token('ci') }] : [200, { items: [] }]);
    show(root, <TokensPage />);
    await says('No token yet');
    await accessible();
    await press('Create a token');
    await accessible();
    await type('Name', 'ci');
    await press('Create the token');
    await says('Choose at least one scope.');
    await press('Read only');
    const group = [...document.querySelectorAll('dialog [role=group]')].find((one) => one.getAttribute('aria-label') === 'Serving and repairs');
    expect(group?.textContent).toBe('Serving and repairsOperate');
    group?.querySelector('input')?.click();
    await press('Create the token');
    await says('lpt_secret');
    await accessible();
    const [made] = served.to('/tokens').filter(({ method }) => method === 'POST');
    const { scopes } = made?.body as { scopes: string[] };
    expect(scopes.filter((scope) => !scope.endsWith(':read'))).toEqual(['serving:operate']);
    expect(scopes).toContain('audit:read');
    await press('Done');
    await vi.waitFor(() => expect(document.body.innerHTML).not.toContain('lpt_secret'));
    await says('tok_ci');
  });

  it('fails, tries again, and revokes', async () => {
    served.answers['/tokens'] = [500, { status: 500, detail: 'the database is gone' }];
    show(root, <><TokensPage /><Notices /></>);
    await says('The database is gone.');
    served.answers['/tokens'] = [200, { items: [token('ci'), ...HOSTILE.map((name, index) => token(String(index), { name }))] }];
    served.answers['/tokens/tok_ci'] = [204, null];
    await press('Try again');
    await says('<img src=x onerror=alert(1)>');
    expect(root.querySelector('img')).toBeNull();
    await accessible();
    await press('Revoke ci');
    await says('will be refused at once');
    await accessible();
    await press('Revoke the token');
    await says('ci was revoked.');
    await vi.waitFor(() => expect(root.querySelector('[data-id=tok_ci]')).toBeNull());
  });

  it('has the scopes of a token in the words of the dialog, one line for each group, with the codes beside them', async () => {
    served.answers['/tokens'] = [200, { items: [token('ci', { scopes: ['devices:read', 'models:read', 'devices:write', 'rafts:fold' as never] })] }];
    show(root, <TokensPage />);
    await says('devices:write');
    const lines = [...root.querySelectorAll('.granted')].map((line) => [...line.children].map((one) => one.textContent));
    expect(lines).toEqual([['Devices: Read, Change', 'devices:read devices:write'], ['Models: Read', 'models:read'], ['rafts: fold', 'rafts:fold']]);
    await accessible();
  });

  it('offers the scopes of the role', () => {
    const of = (role: 'viewer' | 'owner'): string[] => scopesOf(role).flatMap(({ scopes }) => scopes);
    expect(of('viewer').some((scope) => scope.endsWith(':write') || scope.endsWith(':operate'))).toBe(false);
    expect(of('owner')).toHaveLength(17);
  });
});
