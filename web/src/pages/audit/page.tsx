// The audit trail of the account, filtered by the address, older entries by cursor.

import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';

import { members, useList } from '../../data/account';
import { allowed } from '../../data/allowed';
import { everyEntry, NAMES, trail, type AuditFilter } from '../../data/audit';
import { nameOf } from '../../data/model_name';
import { devices, me, models } from '../../data/store';
import type { AuditEntry } from '../../data/types';
import { onReturn } from '../../data/visible';
import { text } from '../../text';
import { clock, moment } from '../../text/format';
import { brief } from '../../text/visible';
import { useAttempt } from '../../ui/busy';
import { download } from '../../ui/download';
import { Icon } from '../../ui/icon';
import { notice } from '../../ui/notices';
import { Badge, Empty, Foreign, Skeleton } from '../../ui/parts';
import { ListState, Records, type Column } from '../../ui/records';
import { Refused } from '../../ui/refused';
import { change, query } from '../../ui/router';
import { useTitle } from '../../ui/title';
import { csvOf } from './csv';
import { AuditFilters } from './filters';
import type { Names } from './targets';

import './audit.css';

/** The most entries of a file: more is several megabytes and minutes of requests. */
const MOST_EXPORTED = 20_000;

export function AuditPage() {
  useTitle(text.audit.title);
  const role = me.value?.role;
  return (
    <div class="page">
      {role === undefined && <Skeleton lines={6} />}
      {role !== undefined && !allowed(role, 'audit:read') && <Refused role="admin" />}
      {role !== undefined && allowed(role, 'audit:read') && <Trail />}
    </div>
  );
}

function Trail() {
  useList(members);
  const loaded = useMemo(trail, []);
  const filter = useComputed(() => filterOf(query.value)).value;
  const words = JSON.stringify(filter);
  const { busy, fault, run } = useAttempt();
  const exported = useSignal(0);
  const names = useComputed(() => {
    void [members.rows.revision.value, devices.revision.value, models.revision.value];
    return namesOf();
  }).value;
  useEffect(() => {
    void loaded.begin(filter);
  }, [words]);
  useEffect(() => onReturn(() => void loaded.newer()), []);
  const entries = loaded.entries.value;
  const filtered = NAMES.some((name) => filter[name] !== '');
  const save = (): void => {
    void run(async () => {
      exported.value = 0;
      const { items, cut } = await everyEntry(filter, MOST_EXPORTED, (count) => (exported.value = count));
      download('audit.csv', 'text/csv;charset=utf-8', csvOf(items, names));
      if (cut) notice(text.audit.cut(items.length), 'bad');
    });
  };
  return (
    <>
      <header class="page-head">
        <h1>{text.audit.title}</h1>
        <p class="soft number" role="status">
          {entries.length === 0 ? '' : text.audit.count(entries.length, loaded.more.value)}
        </p>
        <span class="spacer" />
        <div class="page-actions">
          <button type="button" class="button" onClick={() => void loaded.newer()}>
            {text.audit.newer}
          </button>
          <button type="button" class="button" disabled={busy.value || entries.length === 0} onClick={save}>
            <Icon name="download" />
            {busy.value ? text.audit.exporting(exported.value) : text.audit.csv}
          </button>
        </div>
      </header>
      <div class="page-scroll">
        <p class="hint">{text.audit.hint}</p>
        {fault.value !== '' && (
          <p class="banner bad" role="alert">
            {fault}
          </p>
        )}
        <AuditFilters filter={filter} names={names} />
        <ListState loading={loaded.loading.value} count={entries.length} title={text.audit.failedTitle} retry={() => void loaded.retry()}>
          {entries.length > 0 && <Records label={text.audit.table} columns={columnsOf(names)} items={entries} idOf={({ entry_id }) => entry_id} />}
          {entries.length === 0 && (
            <Empty icon={filtered ? 'filter' : 'trail'} title={filtered ? text.audit.noMatchTitle : text.audit.nothingTitle}>
              <p>{filtered ? text.audit.noMatch : text.audit.nothing}</p>
              {filtered && (
                <button type="button" class="button" onClick={() => change(Object.fromEntries(NAMES.map((name) => [name, null])))}>
                  {text.audit.clear}
                </button>
              )}
            </Empty>
          )}
          {loaded.more.value && (
            <button type="button" class="button records-more" disabled={loaded.loading.value.state === 'loading'} onClick={() => void loaded.older()}>
              {text.audit.more}
            </button>
          )}
        </ListState>
      </div>
    </>
  );
}

/** Returns the names of the things that entries name by id. */
function namesOf(): Names {
  return new Map([
    ...members.rows.all().map(({ user_id, email }) => [user_id, email] as const),
    ...devices.all().map(({ device_id, name }) => [device_id, name] as const),
    ...models.all().map((model) => [model.model_id, nameOf(model)] as const),
  ]);
}

function filterOf(parameters: URLSearchParams): AuditFilter {
  const value = (name: keyof AuditFilter): string => (parameters.get(name) ?? '').slice(0, 100);
  return { action: value('action'), actor: value('actor'), subject: value('subject'), since: value('since'), until: value('until') };
}

function columnsOf(names: Names): Column<AuditEntry>[] {
  const titles = text.audit.columns;
  return [
    {
      name: titles.at,
      class: 'tight',
      cell: ({ at }) => (
        <time dateTime={at} title={moment(at)}>
          {clock(at)}
        </time>
      ),
    },
    { name: titles.actor, cell: ({ actor }) => <Named id={actor.id ?? null} names={names} kind={text.audit.kinds[actor.kind]} parameter="actor" /> },
    {
      name: titles.action,
      cell: ({ action, outcome }) => (
        <span class="done">
          <Done action={action} />
          {outcome === 'refused' && <Badge tone="bad">{text.audit.refused}</Badge>}
        </span>
      ),
    },
    { name: titles.subject, cell: ({ subject }) => <Named id={subject} names={names} parameter="subject" /> },
    { name: titles.detail, class: 'wide detail', cell: ({ detail }) => detail !== '' && <Foreign>{detail}</Foreign> },
    { name: titles.address, class: 'tight', cell: ({ address }) => <Foreign>{address ?? '–'}</Foreign> },
  ];
}

/** What was done, in words and as its code. A newer backend has codes without words here. */
function Done({ action }: { action: string }) {
  const words = Object.hasOwn(text.audit.actions, action) ? text.audit.actions[action] : undefined;
  return (
    <span class="stack">
      {words !== undefined && <span>{words}</span>}
      <code class={words === undefined ? undefined : 'soft small'}>
        <Foreign>{action}</Foreign>
      </code>
    </span>
  );
}

/** A name; a click filters by it. The list is loaded anew and the button goes with it, so the focus goes to the filter. */
function Named({ id, names, kind, parameter }: { id: string | null; names: Names; kind?: string; parameter: 'actor' | 'subject' }) {
  if (id === null || id === '') return <span class="soft">{parameter === 'actor' ? text.audit.system : '–'}</span>;
  const name = names.get(id) ?? id;
  const only = parameter === 'actor' ? text.audit.onlyBy : text.audit.only;
  const filter = (): void => {
    change({ [parameter]: id });
    document.getElementById(`audit-${parameter}`)?.focus();
  };
  return (
    <button type="button" class="named" title={only(brief(name))} onClick={filter}>
      <Foreign>{name}</Foreign>
      {kind && kind !== text.audit.kinds.user && <span class="soft small">{kind}</span>}
    </button>
  );
}
