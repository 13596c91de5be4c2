// The results of an operation on its devices. They have no events of their own: when the operation has changed, what is
// shown is loaded anew, at most once a second and never for more than a tenth of the time.

import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { ask, GET } from '../../data/client';
import { Rows } from '../../data/rows';
import type { Operation, OperationDevice } from '../../data/types';
import { text } from '../../text';
import { List, type ListRow, type RowHeights } from '../../ui/list';
import { Badge, Failed, Foreign, Outdated, Skeleton, Time, type Tone } from '../../ui/parts';
import { Said } from '../../ui/prose';

const PAGE = 200;
const PAUSE = 1_000;
const COLUMNS = ['device', 'state', 'detail', 'attempts', 'updated'] as const;
const HEIGHTS: RowHeights = { wide: 46, narrow: 64 };
const TONES: Record<OperationDevice['state'], Tone> = {
  pending: 'quiet', sent: 'busy', succeeded: 'good', failed: 'bad', skipped: 'quiet', cancelled: 'quiet',
};

export function Results({ operation, wanted }: { operation: Operation; wanted: OperationDevice['state'] | null }) {
  const rows = useRef(new Rows<OperationDevice>(({ device_id }) => device_id)).current;
  const pages = useSignal(1);
  const more = useSignal(false);
  const state = useSignal<'loading' | 'ready'>('loading');
  const failed = useSignal<unknown>(null);
  const attempt = useSignal(0);
  const took = useRef(0);
  const { operation_id: id, counts } = operation;
  const version = JSON.stringify(counts);
  useEffect(() => {
    let gone = false;
    const load = async (): Promise<void> => {
      const begun = performance.now();
      const mine = rows.beginLoad();
      let cursor: string | null | undefined;
      for (let page = 0; page < pages.peek(); page += 1) {
        const query = { limit: PAGE, ...(wanted ? { state: wanted } : {}), ...(cursor ? { cursor } : {}) };
        const answer = await ask(GET('/api/v1/operations/{operation_id}/devices', { params: { path: { operation_id: id }, query } }));
        if (gone || !rows.isNewest(mine)) return;
        rows.loaded(answer.items, mine);
        cursor = answer.next_cursor;
        if (!cursor) break;
      }
      rows.endLoad(mine);
      more.value = Boolean(cursor);
      state.value = 'ready';
      failed.value = null;
      took.current = performance.now() - begun;
    };
    const failing = (error: unknown): void => {
      if (!gone) failed.value = error;
    };
    const pause = state.peek() === 'ready' && took.current > 0 ? Math.max(PAUSE, 9 * took.current) : 0;
    const timer = setTimeout(() => void load().catch(failing), pause);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [id, version, pages.value, attempt.value]);
  const ids = useComputed(() => (rows.revision.value, rows.all().map(({ device_id }) => device_id))).value;
  const retry = (): void => {
    took.current = 0;
    attempt.value += 1;
  };
  const next = (): void => {
    took.current = 0;
    pages.value += 1;
  };
  if (failed.value !== null && ids.length === 0) return <Failed title={text.works.resultsFailed} error={failed.value} retry={retry} />;
  if (state.value === 'loading' && ids.length === 0) return <Skeleton lines={6} />;
  if (ids.length === 0) return <p class="soft">{text.works.noneInState}</p>;
  return (
    <>
      {failed.value !== null && <Outdated title={text.works.resultsFailed} error={failed.value} retry={retry} />}
      <List
        name="result-row"
        label={text.works.results}
        columns={COLUMNS.map((name) => ({ name, title: text.works.itemColumns[name] }))}
        ids={ids}
        heights={HEIGHTS}
        row={(device) => rowOf(rows, device)}
      />
      {more.value && (
        <button type="button" class="button more" onClick={next}>
          {text.works.more}
        </button>
      )}
    </>
  );
}

function rowOf(rows: Rows<OperationDevice>, id: string): ListRow | null {
  const item = rows.row(id)?.value;
  if (!item) return null;
  return {
    title: item.name,
    cells: {
      device: (
        <a class="strong" href={`/devices/${item.device_id}`}>
          <Foreign>{item.name}</Foreign>
        </a>
      ),
      state: <Badge tone={TONES[item.state]}>{text.works.item[item.state]}</Badge>,
      detail: item.detail ? <Said words={item.detail} /> : null,
      attempts: <span class="number soft">{item.attempts}</span>,
      updated: <Time at={item.updated_at} />,
    },
  };
}
