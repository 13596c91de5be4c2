// The keys of the account: those that end first at the top, created here, shown once, revoked.

import { useComputed, useSignal, type Signal } from '@preact/signals';

import { keys, members, useList } from '../../data/account';
import { allowed } from '../../data/allowed';
import { isValid, keyOrder, keyState, mostDevices, type KeyState } from '../../data/keys';
import { me } from '../../data/store';
import type { Key, Role } from '../../data/types';
import { text } from '../../text';
import { brief } from '../../text/visible';
import { useAsked } from '../../ui/asked';
import { now } from '../../ui/clock';
import { Icon } from '../../ui/icon';
import { useLost } from '../../ui/lost';
import { Badge, Empty, Foreign, Skeleton, Time, type Tone } from '../../ui/parts';
import { ListState, Records, type Column } from '../../ui/records';
import { Refused } from '../../ui/refused';
import { change, query } from '../../ui/router';
import { SearchField } from '../../ui/search_field';
import { useTitle } from '../../ui/title';
import { Until } from '../../ui/until';
import { CreateKeyDialog } from './create';
import { RevokeDialog } from './revoke';

const SHOWS = ['all', 'valid', 'soon', 'ended'] as const;
type Shown = (typeof SHOWS)[number];

const TONES: Record<KeyState, Tone> = { valid: 'good', soon: 'warn', used: 'quiet', expired: 'quiet', revoked: 'quiet' };

export function KeysPage() {
  useTitle(text.keys.title);
  const role = me.value?.role;
  const creating = useSignal(false);
  return (
    <div class="page">
      {role === undefined && <Skeleton lines={6} />}
      {role !== undefined && !allowed(role, 'keys:read') && <Refused role="operator" />}
      {role !== undefined && allowed(role, 'keys:read') && <Keys role={role} creating={creating} />}
      {/* It has a key that is shown once, so it stays also if the role no longer reads the list. */}
      {creating.value && <CreateKeyDialog close={() => (creating.value = false)} />}
    </div>
  );
}

function Keys({ role, creating }: { role: Role; creating: Signal<boolean> }) {
  useList(keys);
  useList(members);
  const revoking = useSignal<Key | null>(null);
  const emails = useComputed(() => {
    void members.rows.revision.value;
    return new Map(members.rows.all().map(({ user_id, email }) => [user_id, email]));
  });
  const all = useComputed(() => (keys.rows.revision.value, keys.rows.all().sort(keyOrder(now.value))));
  const shows = SHOWS.find((known) => known === query.value.get('show')) ?? 'all';
  const words = query.value.get('q') ?? '';
  const shown = all.value.filter((key) => fits(key, shows, words, emails.value, now.value));
  const writes = allowed(role, 'keys:write');
  useAsked('create', () => (creating.value = writes));
  useLost(writes, () => (revoking.value = null));
  const columns = columnsOf(emails.value, writes ? (key) => (revoking.value = key) : null);
  return (
    <>
      <header class="page-head">
        <h1>{text.keys.title}</h1>
        <p class="soft number" role="status">
          {all.value.length === 0 ? '' : shown.length === all.value.length ? text.keys.count(shown.length) : text.keys.countOf(shown.length, all.value.length)}
        </p>
        <span class="spacer" />
        {writes && (
          <button type="button" class="button primary" onClick={() => (creating.value = true)}>
            <Icon name="plus" />
            {text.keys.create}
          </button>
        )}
      </header>
      <div class="page-scroll">
        <p class="hint">{text.keys.hint}</p>
        <ListState loading={keys.loading.value} count={all.value.length} title={text.keys.failedTitle} retry={() => void keys.load()}>
          {all.value.length > 0 && <KeyFilters shows={shows} words={words} />}
          {shown.length > 0 && <Records label={text.keys.table} columns={columns} items={shown} idOf={({ key_id }) => key_id} />}
          {all.value.length > 0 && shown.length === 0 && (
            <Empty icon="filter" title={text.keys.noMatchTitle}>
              <p>{text.keys.noMatch}</p>
              <button type="button" class="button" onClick={() => change({ q: null, show: null })}>
                {text.keys.clear}
              </button>
            </Empty>
          )}
          {all.value.length === 0 && (
            <Empty icon="key" title={text.keys.nothingTitle}>
              <p>{text.keys.nothing}</p>
              <a class="button primary" href="/devices/add">
                {text.add.title}
              </a>
            </Empty>
          )}
        </ListState>
      </div>
      {revoking.value && <RevokeDialog id={revoking.value.key_id} asked={revoking.value} close={() => (revoking.value = null)} />}
    </>
  );
}

function KeyFilters({ shows, words }: { shows: Shown; words: string }) {
  return (
    <div class="filters" role="search" aria-label={text.devices.filters}>
      <SearchField label={text.keys.search} words={words} />
      <select aria-label={text.keys.show} value={shows} onChange={(event) => change({ show: event.currentTarget.value === 'all' ? null : event.currentTarget.value })}>
        {SHOWS.map((one) => (
          <option key={one} value={one}>
            {text.keys.shows[one]}
          </option>
        ))}
      </select>
    </div>
  );
}

function fits(key: Key, shows: Shown, words: string, emails: ReadonlyMap<string, string>, at: number): boolean {
  if (shows === 'soon' ? keyState(key, at) !== 'soon' : shows !== 'all' && isValid(key, at) !== (shows === 'valid')) return false;
  const wanted = words.trim().toLowerCase();
  const creator = emails.get(key.created_by ?? '') ?? '';
  return [key.name, key.key_id, creator, ...key.tags].some((one) => one.toLowerCase().includes(wanted));
}

function columnsOf(emails: ReadonlyMap<string, string>, revoke: ((key: Key) => void) | null): Column<Key>[] {
  const names = text.keys.columns;
  const columns: Column<Key>[] = [
    {
      name: names.name,
      class: 'wide',
      cell: (key) => (
        <span class="stack">
          <Foreign>{key.name || text.keys.unnamed}</Foreign>
          <code class="soft small">{key.key_id}</code>
        </span>
      ),
    },
    { name: names.kind, class: 'tight', cell: ({ kind }) => text.keys.kinds[kind] },
    { name: names.state, class: 'tight', cell: (key) => <State state={keyState(key, now.value)} /> },
    { name: names.uses, class: 'tight number', cell: (key) => usesOf(key) },
    { name: names.expires, class: 'tight', cell: ({ expires_at }) => <Until at={expires_at} /> },
    {
      name: names.tags,
      cell: ({ tags }) => tags.length > 0 && (
        <span class="choices">
          {tags.map((tag) => (
            <Foreign key={tag} class="tag">
              {tag}
            </Foreign>
          ))}
        </span>
      ),
    },
    {
      name: names.by,
      cell: ({ created_by: by, created_at }) => (
        <span class="stack">
          <Foreign>{by ? (emails.get(by) ?? by) : text.admin.unknown}</Foreign>
          <span class="soft small">
            <Time at={created_at} />
          </span>
        </span>
      ),
    },
  ];
  if (!revoke) return columns;
  const actions: Column<Key> = {
    name: names.actions,
    class: 'actions',
    cell: (key) =>
      isValid(key, now.value) && (
        <button type="button" class="button danger" aria-label={text.keys.revokeOf(brief(key.name || key.key_id))} onClick={() => revoke(key)}>
          {text.keys.revoke}
        </button>
      ),
  };
  return [...columns, actions];
}

function State({ state }: { state: KeyState }) {
  return <Badge tone={TONES[state]}>{text.keys.states[state]}</Badge>;
}

function usesOf(key: Key): string {
  const most = mostDevices(key);
  return most === null ? text.admin.unlimited(key.devices) : text.admin.of(key.devices, most);
}
