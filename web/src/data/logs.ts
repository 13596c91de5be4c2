// The log of one device: loaded from its newest page backwards, followed by the stream while its page is in sight.

import { ask, GET } from './client';
import { follow } from './stream';
import type { DeviceLog, Severity } from './types';

/** Records in ascending order, and where older ones begin. */
export interface Log {
  records: readonly DeviceLog[];
  cursor: string | null;
}

const PAGE = 200;
/** The most records that are kept while following; the oldest make room. */
const MOST = 5_000;
const ORDER: readonly Severity[] = ['info', 'warning', 'error', 'critical'];

/** Loads the page before the oldest record of `log`. */
export async function loadLog(log: Log, deviceId: string, severity: Severity): Promise<Log> {
  const query = { limit: PAGE, severity, ...(log.cursor ? { cursor: log.cursor } : {}) };
  const params = { path: { device_id: deviceId }, query };
  const { items, next_cursor: next } = await ask(GET('/api/v1/devices/{device_id}/logs', { params }));
  return { records: merged(log.records, items), cursor: next ?? null };
}

/** Loads the newest records and then follows new ones until `signal` is aborted. Fails if the first load fails. */
export async function followLog(
  deviceId: string,
  severity: Severity,
  took: (log: Log) => void,
  signal: AbortSignal,
): Promise<void> {
  let log = await loadLog({ records: [], cursor: null }, deviceId, severity);
  if (signal.aborted) return;
  took(log);
  const take = (records: readonly DeviceLog[]): void => {
    const fitting = records.filter((record) => ORDER.indexOf(record.severity) >= ORDER.indexOf(severity));
    log = { ...log, records: merged(log.records, fitting).slice(-MOST) };
    took(log);
  };
  await follow({
    query: `?kinds=log&device_id=${encodeURIComponent(deviceId)}`,
    lastId: null,
    signal,
    heard: (message) => {
      if (message.type === 'change' && message.change.kind === 'log' && message.change.item) {
        take([message.change.item as DeviceLog]);
      } else if (message.type === 'ready' || message.type === 'reset') {
        // Records between the load and the stream, or of a gap.
        const newest = { records: [], cursor: null };
        loadLog(newest, deviceId, severity).then(({ records }) => take(records), () => undefined);
      }
    },
  });
}

/** Returns both lists in ascending order, each record once. */
export function merged(one: readonly DeviceLog[], other: readonly DeviceLog[]): DeviceLog[] {
  const byNumber = new Map([...one, ...other].map((record) => [record.number, record]));
  return [...byNumber.values()].sort((a, b) => a.number - b.number);
}
