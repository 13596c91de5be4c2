// The log of a device: the newest records, then each new one as it arrives; searched, paused and downloaded here.

import { useComputed, useSignal } from '@preact/signals';
import { useCallback, useEffect, useLayoutEffect, useRef } from 'preact/hooks';

import { followLog, loadOlder, type Log } from '../../data/logs';
import type { DeviceLog, Severity } from '../../data/types';
import { text } from '../../text';
import { clock, moment } from '../../text/format';
import { brief } from '../../text/visible';
import { Select } from '../../ui/choice';
import { download } from '../../ui/download';
import { Icon } from '../../ui/icon';
import { useLasting } from '../../ui/lasting';
import { narrow } from '../../ui/narrow';
import { failure } from '../../ui/notices';
import { Badge, Empty, Failed, Foreign, Skeleton, type Tone } from '../../ui/parts';
import { change, query } from '../../ui/router';
import { scaled } from '../../ui/scale';
import { SearchField } from '../../ui/search_field';
import { useVirtual } from '../../ui/virtual';

const SEVERITIES: readonly Severity[] = ['info', 'warning', 'error', 'critical'];
const TONES: Record<Severity, Tone> = { info: 'quiet', warning: 'warn', error: 'bad', critical: 'bad' };
/** The heights of a record in pixels, as the style sheet has them. */
const RECORD = 26;
const NARROW_RECORD = 48;
/** How long the newest records may be missing before that is said, in milliseconds: the stream is opened again at once. */
const BEHIND = 3_000;
/** How many pages of older records one search looks through. */
const MOST_PAGES = 25;
/** How many characters of a message the backend keeps. */
const MOST = 8_192;

export function Logs({ deviceId }: { deviceId: string }) {
  const severity = SEVERITIES.find((known) => known === query.value.get('severity')) ?? 'info';
  return <Tail key={severity} deviceId={deviceId} severity={severity} />;
}

function Tail({ deviceId, severity }: { deviceId: string; severity: Severity }) {
  const log = useSignal<Log | null>(null);
  const failed = useSignal<unknown>(null);
  const isWhole = useSignal(true);
  const attempt = useSignal(0);
  const paused = useSignal<number | null>(null);
  const searching = useSignal(false);
  const left = useRef(false);
  useEffect(() => () => void (left.current = true), []);
  const words = query.value.get('q') ?? '';
  useEffect(() => {
    const closing = new AbortController();
    failed.value = null;
    isWhole.value = true;
    const took = (next: Log): void => {
      log.value = next;
    };
    const reader = { current: () => log.peek(), took, stands: () => paused.peek() !== null, whole: (whole: boolean): void => void (isWhole.value = whole) };
    followLog(deviceId, severity, reader, closing.signal).catch((error: unknown) => {
      if (!closing.signal.aborted) failed.value = error;
    });
    return () => closing.abort();
  }, [attempt.value]);
  const isBehind = useLasting(!isWhole.value, BEHIND);
  const records = useComputed(() => {
    const all = log.value?.records ?? [];
    const until = paused.value;
    return until === null ? all : all.filter(({ number }) => number <= until);
  }).value;
  const category = query.value.get('category') ?? '';
  const wraps = query.value.get('wrap') === 'yes';
  const categories = [...new Set((log.value?.records ?? []).map((record) => record.category))].sort();
  const fits = fitting(query.value);
  const shown = records.filter((record) => fits?.(record) ?? true);
  const held = (log.value?.records.length ?? 0) - records.length;
  const older = async (): Promise<void> => {
    if (searching.peek()) return;
    const current = (): Log => log.peek() ?? { records: [], cursor: null, extended: false };
    searching.value = true;
    try {
      for (let pages = 0; pages < MOST_PAGES; pages += 1) {
        const oldest = current().records[0]?.number ?? Infinity;
        const next = await loadOlder(current, deviceId, severity);
        if (left.current) return;
        log.value = next;
        // A search goes on until it finds something: a page without a match would look like the end of the log.
        const seeks = fitting(query.peek());
        if (next.cursor === null || !seeks || next.records.some((record) => record.number < oldest && seeks(record))) return;
      }
    } catch (error) {
      failure(error);
    } finally {
      searching.value = false;
    }
  };
  return (
    <div class="logs">
      <div class="filters">
        <SearchField label={text.logs.search} words={words} />
        <select
          aria-label={text.logs.severity}
          value={severity}
          onChange={(event) => change({ severity: event.currentTarget.value === 'info' ? null : event.currentTarget.value })}
        >
          {SEVERITIES.map((one) => (
            <option key={one} value={one}>
              {text.logs.atLeast[one]}
            </option>
          ))}
        </select>
        <Select
          label={text.logs.category}
          all={text.logs.allCategories}
          options={categories.map((value) => ({ value, words: value }))}
          value={category}
          choose={(value) => change({ category: value || null })}
        />
        <button
          type="button"
          class="button"
          aria-pressed={paused.value !== null}
          onClick={() => (paused.value = paused.value === null ? (records.at(-1)?.number ?? 0) : null)}
        >
          {paused.value === null ? text.logs.pause : text.logs.resume(held)}
        </button>
        <button type="button" class="button" aria-pressed={wraps} onClick={() => change({ wrap: wraps ? null : 'yes' }, { replace: true })}>
          {text.logs.wrap}
        </button>
        <span class="spacer" />
        <span class="soft small number">{log.value && text.logs.count(shown.length)}</span>
        <button
          type="button"
          class="button"
          disabled={shown.length === 0}
          onClick={() => download(`${deviceId}.log`, 'text/plain;charset=utf-8', shown.map((record) => `${line(record)}\n`).join(''))}
        >
          <Icon name="download" />
          {text.logs.download}
        </button>
      </div>
      {failed.value !== null && (
        <Failed title={text.logs.failedTitle} error={failed.value} retry={() => (attempt.value += 1)} />
      )}
      <p class="soft" role="status">
        {failed.value === null && isBehind && text.logs.behind}
      </p>
      {failed.value === null && log.value === null && <Skeleton lines={10} />}
      {log.value && log.value.records.length === 0 && (
        <Empty icon="book" title={text.logs.nothingTitle}>
          <p>{text.logs.nothing}</p>
        </Empty>
      )}
      {log.value?.cursor && (
        <button type="button" class="button quiet" aria-disabled={searching.value ? 'true' : undefined} onClick={() => void older()}>
          {searching.value ? text.logs.searching(log.value.records.length) : fits ? text.logs.searchOlder : text.logs.older}
        </button>
      )}
      {log.value && log.value.records.length > 0 && shown.length === 0 && (
        <p class="soft">{log.value.cursor ? text.logs.noneLoaded(records.length) : text.logs.none}</p>
      )}
      {shown.length > 0 && <Records key={wraps ? 'wrapped' : 'cut'} records={shown} wraps={wraps} follows={paused.value === null} />}
    </div>
  );
}

/** Returns what a record has to be for the search and the category of the address. Null if any record will do. */
function fitting(parameters: URLSearchParams): ((record: DeviceLog) => boolean) | null {
  const wanted = (parameters.get('q') ?? '').trim().toLowerCase();
  const category = parameters.get('category') ?? '';
  if (wanted === '' && category === '') return null;
  return (record) => (category === '' || record.category === category) && (wanted === '' || line(record).toLowerCase().includes(wanted));
}

function Records({ records, wraps, follows }: { records: readonly DeviceLog[]; wraps: boolean; follows: boolean }) {
  const scroller = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const numberOf = useCallback((index: number) => records[index]?.number ?? -1, [records]);
  const height = scaled(narrow.value ? NARROW_RECORD : RECORD);
  const { items, total, measure } = useVirtual(scroller, records.length, height, wraps ? numberOf : undefined);
  const newest = records.at(-1)?.number;
  // Within the frame in which rows were measured: a later scroll event of that frame would end the following.
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box && follows && atEnd.current) box.scrollTop = box.scrollHeight;
  }, [newest, follows, total]);
  const scrolled = (): void => {
    const box = scroller.current;
    if (box) atEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < scaled(RECORD) * 2;
  };
  return (
    <div class={wraps ? 'log-frame wrapped' : 'log-frame'} ref={scroller} tabIndex={0} onScroll={scrolled} role="log" aria-live="off" aria-label={text.logs.list}>
      <div class="log-rows" style={{ height: `${total}px` }}>
        {items.map(({ index, start }) => {
          const record = records[index];
          return record ? <Record key={record.number} record={record} index={index} start={start} measure={wraps ? measure : null} /> : null;
        })}
      </div>
    </div>
  );
}

interface RecordProps {
  record: DeviceLog;
  index: number;
  start: number;
  /** Measures a row whose message is wrapped. Null for a row of one line. */
  measure: ((row: HTMLElement | null) => void) | null;
}

function Record({ record, index, start, measure }: RecordProps) {
  return (
    <div class={`log-row ${record.severity}`} ref={measure} data-index={index} style={{ transform: `translateY(${start}px)` }}>
      <time class="number soft" dateTime={record.received_at} title={moment(record.received_at)}>
        {clock(record.received_at)}
      </time>
      <Badge tone={TONES[record.severity]}>{text.logs.severities[record.severity]}</Badge>
      <Foreign class="soft">{record.category}</Foreign>
      {measure ? <bdi class="message">{brief(record.message, MOST)}</bdi> : <Foreign class="message">{record.message}</Foreign>}
    </div>
  );
}

function line({ received_at, severity, category, message }: DeviceLog): string {
  return `${received_at} ${severity.toUpperCase()} ${category}: ${message}`;
}
