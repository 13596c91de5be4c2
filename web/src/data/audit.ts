// The audit trail: entries by cursor, as far as a filter goes. It has no events: it is loaded when somebody looks.

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
}

/** Makes an empty trail. What an older filter brings is not taken. */
export function trail(): Trail {
  const entries = signal<readonly AuditEntry[]>([]);
  const loading = signal<Loading>({ state: 'idle', error: null });
  const more = signal(false);
  let filter: AuditFilter | null = null;
  let cursor: string | null = null;
  const take = async (wanted: AuditFilter, from: string | null, kept: readonly AuditEntry[]): Promise<void> => {
    loading.value = { state: 'loading', error: null };
    try {
      const page = await entriesOf(wanted, from, PAGE);
      if (filter !== wanted) return;
      entries.value = [...kept, ...page.items];
      cursor = page.next_cursor ?? null;
      more.value = cursor !== null;
      loading.value = { state: 'ready', error: null };
    } catch (error) {
      if (filter === wanted) loading.value = { state: 'failed', error };
    }
  };
  return {
    entries,
    loading,
    more,
    begin: (wanted) => {
      filter = wanted;
      entries.value = [];
      more.value = false;
      cursor = null;
      return take(wanted, null, []);
    },
    older: async () => {
      if (filter && loading.peek().state !== 'loading') await take(filter, cursor, entries.peek());
    },
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

function entriesOf(filter: AuditFilter, cursor: string | null, limit: number): Promise<{ items: AuditEntry[]; next_cursor?: string | null }> {
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
