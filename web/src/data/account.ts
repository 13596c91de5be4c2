// What administrators look after: keys, members, invitations and tokens. A list is loaded while a page shows it. Events keep
// keys and members true; invitations and tokens have no events and are loaded anew with everything else, and when somebody comes
// back to the page. An invitation that is accepted is a new member.

import { signal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { ask, DELETE, GET, PATCH, POST } from './client';
import { followers } from './followers';
import { Rows } from './rows';
import { load, type Loading, type Page } from './store';
import { onReturn } from './visible';
import type {
  CreateKey, Invitation, InvitationCreated, Key, KeyCreated, Member, MemberRemoved, Permission, Role, Token, TokenCreated,
} from './types';

const PAGE = 200;

export interface AccountList<T extends object> {
  rows: Rows<T>;
  loading: Signal<Loading>;
  load: () => Promise<void>;
  /** Loads the list unless it is shown elsewhere, and returns how to end showing it. */
  show: () => () => void;
}

export const keys = listOf<Key>('key', ({ key_id }) => key_id, (cursor) =>
  ask(GET('/api/v1/keys', { params: { query: { limit: PAGE, ...cursor } } })),
);
export const members = listOf<Member>('member', ({ user_id }) => user_id, (cursor) =>
  ask(GET('/api/v1/members', { params: { query: { limit: PAGE, ...cursor } } })),
);
export const invitations = listOf<Invitation>({ reloadedBy: 'member' }, ({ invitation_id }) => invitation_id, (cursor) =>
  ask(GET('/api/v1/members/invitations', { params: { query: { limit: PAGE, ...cursor } } })),
);
export const tokens = listOf<Token>({ reloadedBy: null }, ({ token_id }) => token_id, (cursor) =>
  ask(GET('/api/v1/tokens', { params: { query: { limit: PAGE, ...cursor } } })),
);

/** Keeps a list loaded while a component is shown; `wanted` says whether the caller may read it. */
export function useList<T extends object>(list: AccountList<T>, wanted = true): void {
  useEffect(() => (wanted ? list.show() : undefined), [list, wanted]);
}

export async function createKey(body: CreateKey): Promise<KeyCreated> {
  const created = await ask(POST('/api/v1/keys', { body }));
  keys.rows.changed(created.info);
  return created;
}

export async function revokeKey(key: Key): Promise<void> {
  await ask(DELETE('/api/v1/keys/{key_id}', { params: { path: { key_id: key.key_id } } }));
  keys.rows.patched(key.key_id, { revoked: true });
}

export async function invite(role: Role, email: string, expires: string): Promise<InvitationCreated> {
  const body = { role, expires_at: expires, ...(email === '' ? {} : { email }) };
  const created = await ask(POST('/api/v1/members/invitations', { body }));
  invitations.rows.changed(created.info);
  return created;
}

export async function withdraw(id: string): Promise<void> {
  await ask(DELETE('/api/v1/members/invitations/{invitation_id}', { params: { path: { invitation_id: id } } }));
  invitations.rows.removed(id);
}

/** Returns a member as the backend knows them at this moment; nothing if they are gone. */
export async function currentMember(id: string): Promise<Member | null> {
  await members.load();
  const { state, error } = members.loading.peek();
  if (state === 'failed') throw error;
  return members.rows.row(id)?.peek() ?? null;
}

export async function changeRole(id: string, role: Role): Promise<void> {
  const params = { path: { user_id: id } };
  members.rows.changed(await ask(PATCH('/api/v1/members/{user_id}', { params, body: { role } })));
}

/** Removes a member; `keys` is what becomes of the keys for which the member is responsible. */
export async function removeMember(id: string, keys: 'revoke' | 'take_over'): Promise<MemberRemoved> {
  const params = { path: { user_id: id }, query: { keys } };
  const removed = await ask(DELETE('/api/v1/members/{user_id}', { params }));
  members.rows.removed(id);
  return removed;
}

/** Returns the keys for which a member is responsible. */
export async function keysOf(id: string): Promise<Key[]> {
  const found: Key[] = [];
  let cursor: { cursor?: string } | null = {};
  while (cursor !== null) {
    const query = { limit: PAGE, created_by: id, ...cursor };
    const page: { items: Key[]; next_cursor?: string | null } = await ask(GET('/api/v1/keys', { params: { query } }));
    found.push(...page.items);
    cursor = page.next_cursor ? { cursor: page.next_cursor } : null;
  }
  return found;
}

export async function createToken(name: string, scopes: Permission[], expires: string): Promise<TokenCreated> {
  const created = await ask(POST('/api/v1/tokens', { body: { name, scopes, expires_at: expires } }));
  tokens.rows.changed(created.info);
  return created;
}

export async function revokeToken(id: string): Promise<void> {
  await ask(DELETE('/api/v1/tokens/{token_id}', { params: { path: { token_id: id } } }));
  tokens.rows.removed(id);
}

/** Makes a list. `events` is the kind of its events, or of those of others after which it is loaded anew. */
function listOf<T extends object>(events: string | { reloadedBy: string | null }, idOf: (item: T) => string, page: Page<T>): AccountList<T> {
  const rows = new Rows<T>(idOf);
  const loading = signal<Loading>({ state: 'idle', error: null });
  const again = (): Promise<void> => load(rows, loading, page);
  const clear = (): void => {
    rows.clear();
    loading.value = { state: 'idle', error: null };
  };
  let shown = 0;
  followers.add({
    reload: () => {
      if (shown > 0) void again();
    },
    changed: (change) => {
      if (shown === 0) return;
      if (typeof events !== 'string') {
        if (change.kind === events.reloadedBy) void again();
        return;
      }
      if (change.kind !== events) return;
      if (change.change !== 'removed' && change.item !== null) rows.changed(change.item as T);
      else if (change.id) rows.removed(change.id);
    },
    clear,
  });
  const show = (): (() => void) => {
    shown += 1;
    if (shown === 1 || loading.peek().state === 'idle') void again();
    const end = typeof events === 'string' ? null : onReturn(() => void again());
    return () => {
      end?.();
      shown -= 1;
      if (shown === 0) clear();
    };
  };
  return { rows, loading, load: again, show };
}
