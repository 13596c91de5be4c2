// The log of one device: loaded from its newest page backwards, followed by the stream while its page is in sight.

import { patiently } from './awaited';
import { ask, GET } from './client';
import { passes } from './retry';
import { follow, type Message } from './stream';
import type { DeviceLog, Severity } from './types';
import { whileVisible } from './visible';

/** Records in ascending order, and where older ones begin. */
export interface Log {
  records: readonly DeviceLog[];
  cursor: string | null;
  /** Whether somebody has loaded older records: then none makes room. */
  extended: boolean;
}

const PAGE = 200;
/** The most records that are kept while following; the oldest make room. */
const MOST = 5_000;
const ORDER: readonly Severity[] = ['info', 'warning', 'error', 'critical'];

/** Loads the page before the oldest record. `current` is what is shown: it grows during the load. */
export async function loadOlder(current: () => Log, deviceId: string, severity: Severity): Promise<Log> {
  const { items, cursor } = await page(deviceId, severity, current().cursor);
  return { records: merged(current().records, items), cursor, extended: true };
}

/** Who shows a log. */
interface Reader {
  current: () => Log | null;
  took: (log: Log) => void;
  /** Whether what is shown stands still: then as many more records are kept before the oldest make room. */
  stands: () => boolean;
  /** Hears whether the newest records are there: not while the stream is away, nor while a gap is not filled. */
  whole: (whole: boolean) => void;
}

/** Loads the newest records and then follows new ones until `signal` is aborted. Fails if the first load fails. */
export async function followLog(deviceId: string, severity: Severity, { current, took, stands, whole }: Reader, signal: AbortSignal): Promise<void> {
  const { items, cursor } = await page(deviceId, severity, null);
  if (signal.aborted) return;
  took({ records: merged([], items), cursor, extended: false });
  const take = (records: readonly DeviceLog[]): void => {
    const log = current();
    if (!log || signal.aborted) return;
    const fitting = records.filter((record) => ORDER.indexOf(record.severity) >= ORDER.indexOf(severity));
    const all = merged(log.records, fitting);
    const most = stands() ? 2 * MOST : MOST;
    const full = !log.extended && all.length > most;
    // What is before the cursor would no longer be next to the oldest record.
    took(full ? { ...log, records: all.slice(-most), cursor: null } : { ...log, records: all });
  };
  let lastId: string | null = null;
  let away = false;
  let gap = 0;
  let filling: number | null = null;
  /** Loads the records between the load and the stream, or of a gap. A later gap begins where this one does. */
  const fill = (): void => {
    const newest = filling ?? current()?.records.at(-1)?.number ?? 0;
    filling = newest;
    gap += 1;
    const mine = gap;
    const wanted = (): boolean => mine === gap && !signal.aborted;
    whole(false);
    patiently(() => since(newest, deviceId, severity), wanted).then(
      (records) => {
        take(records);
        if (!wanted()) return;
        filling = null;
        whole(!away);
      },
      // Someone who looks at a log waits for its newest records, however long the backend is away.
      (error: unknown) => wanted() && passes(error) && fill(),
    );
  };
  const heard = (message: Message): void => {
    lastId = message.id ?? lastId;
    switch (message.type) {
      case 'change':
        if (message.change.kind === 'log' && message.change.item) take([message.change.item as DeviceLog]);
        return;
      case 'ready':
      case 'reset':
        away = false;
        return fill();
      case 'lost':
      case 'refused':
      case 'ended':
        away = true;
        whole(false);
    }
  };
  const query = `?kinds=log&device_id=${encodeURIComponent(deviceId)}`;
  whileVisible(signal, (visible) => void follow({ query, lastId, signal: visible, heard }));
}

/** Loads the records after record `number`, and at most as many as are kept. */
async function since(number: number, deviceId: string, severity: Severity): Promise<DeviceLog[]> {
  const found: DeviceLog[] = [];
  let from: string | null = null;
  do {
    const { items, cursor } = await page(deviceId, severity, from);
    found.push(...items);
    from = items.some((record) => record.number <= number) ? null : cursor;
  } while (from !== null && number > 0 && found.length < MOST);
  return found;
}

async function page(
  deviceId: string,
  severity: Severity,
  from: string | null,
): Promise<{ items: DeviceLog[]; cursor: string | null }> {
  const query = { limit: PAGE, severity, ...(from === null ? {} : { cursor: from }) };
  const params = { path: { device_id: deviceId }, query };
  const { items, next_cursor: next } = await ask(GET('/api/v1/devices/{device_id}/logs', { params }));
  return { items, cursor: next ?? null };
}

/** Returns both lists in ascending order, each record once. */
export function merged(one: readonly DeviceLog[], other: readonly DeviceLog[]): DeviceLog[] {
  const byNumber = new Map([...one, ...other].map((record) => [record.number, record]));
  return [...byNumber.values()].sort((a, b) => a.number - b.number);
}
