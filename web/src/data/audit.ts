// The audit trail: entries by cursor, as far as a filter goes. It has no events: it is loaded when somebody looks, and
// again when they come back to the page.

import { signal, type Signal } from '@preact/signals';

import { ask, GET } from './client';
import type { Loading } from './store';
import type { AuditEntry } from './types';

const PAGE = 100;
const LARGEST_PAGE = 200;

/** A filter as the address has it: days are dates of the reader's calendar. */
export interface AuditFilter {
  action: string;
  actor: string;
  subject: string;
  since: string;
  until: string;
}

export const NAMES = ['action', 'actor', 'subject', 'since', 'until'] as const satisfies readonly (keyof AuditFilter)[];

export interface Trail {
  entries: Signal<readonly AuditEntry[]>;
  loading: Signal<Loading>;
  /** Whether there are older entries. */
  more: Signal<boolean>;
  begin: (filter: AuditFilter) => Promise<void>;
  older: () => Promise<void>;
  /** Adds what is new. What is shown stays, unless more is new than one page has. */
  newer: () => Promise<void>;
  /** Tries again what failed. */
  retry: () => Promise<void>;
}

/** Makes an empty trail. Answers to an older filter are dropped. */
export function trail(): Trail {
  const entries = signal<readonly AuditEntry[]>([]);
  const loading = signal<Loading>({ state: 'idle', error: null });
  const more = signal(false);
  let filter: AuditFilter | null = null;
  let cursor: string | null = null;
  let attempted: () => Promise<void> = () => Promise.resolve();
  const load = async (from: string | null, take: (page: EntryPage) => void): Promise<void> => {
    const wanted = filter;
    if (wanted === null) return;
    attempted = () => load(from, take);
    loading.value = { state: 'loading', error: null };
    try {
      const page = await entriesOf(wanted, from, PAGE);
      if (filter !== wanted) return;
      take(page);
      loading.value = { state: 'ready', error: null };
    } catch (error) {
      if (filter === wanted) loading.value = { state: 'failed', error };
    }
  };
  const append = ({ items, next_cursor: next }: EntryPage): void => {
    entries.value = [...entries.peek(), ...items];
    cursor = next ?? null;
    more.value = cursor !== null;
  };
  const prepend = (page: EntryPage): void => {
    const shown = entries.peek();
    const known = page.items.findIndex(({ entry_id }) => entry_id === shown[0]?.entry_id);
    if (known >= 0) entries.value = [...page.items.slice(0, known), ...shown];
    else {
      entries.value = [];
      append(page);
    }
  };
  const isIdle = (): boolean => loading.peek().state !== 'loading';
  return {
    entries,
    loading,
    more,
    begin: (wanted) => {
      filter = wanted;
      entries.value = [];
      more.value = false;
      cursor = null;
      return load(null, append);
    },
    older: async () => {
      if (isIdle()) await load(cursor, append);
    },
    newer: async () => {
      if (isIdle()) await load(null, prepend);
    },
    retry: () => attempted(),
  };
}

/** Returns all entries of a filter, at most `most`. `told` hears how many there are so far. */
export async function everyEntry(filter: AuditFilter, most: number, told: (count: number) => void): Promise<{ items: AuditEntry[]; cut: boolean }> {
  const items: AuditEntry[] = [];
  let cursor: string | null = null;
  do {
    const page = await entriesOf(filter, cursor, LARGEST_PAGE);
    items.push(...page.items);
    told(items.length);
    cursor = page.next_cursor ?? null;
  } while (cursor !== null && items.length < most);
  return { items: items.slice(0, most), cut: cursor !== null || items.length > most };
}

/** Returns the parameters of the API for a filter. A day begins and ends by the reader's clock. */
export function parametersOf(filter: AuditFilter): Record<string, string> {
  const { action, actor, subject } = filter;
  const parameters = { action, actor, subject: subject.trim(), since: dayAt(filter.since, 0), until: dayAt(filter.until, 1) };
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ''));
}

interface EntryPage {
  items: AuditEntry[];
  next_cursor?: string | null;
}

function entriesOf(filter: AuditFilter, cursor: string | null, limit: number): Promise<EntryPage> {
  const query = { limit, ...parametersOf(filter), ...(cursor === null ? {} : { cursor }) };
  return ask(GET('/api/v1/audit', { params: { query } }));
}

/** Returns the beginning of a day, or of a day after it; what is no day is no filter. */
function dayAt(day: string, later: number): string {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day);
  if (!match) return '';
  const begin = new Date(Number(match[1]), Number(match[2]) - 1, Number(match[3]) + later);
  return Number.isNaN(begin.getTime()) ? '' : begin.toISOString();
}
