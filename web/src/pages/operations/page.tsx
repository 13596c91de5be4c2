// The operations of the account: work on many devices, with how far each has come.

import { useComputed } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { operations } from '../../data/operator';
import { text } from '../../text';
import { byText } from '../../text/collation';
import { Chips } from '../../ui/choice';
import { List, type ListRow, type RowHeights } from '../../ui/list';
import { Badge, Empty, Failed, Foreign, Outdated, Skeleton, Time } from '../../ui/parts';
import { change, query } from '../../ui/router';
import { useTitle } from '../../ui/title';
import { OperationActions } from './actions';
import { Progress } from './progress';
import { TONES, workWords } from './words';

import './operations.css';

const COLUMNS = ['work', 'state', 'progress', 'created', 'actions'] as const;
const STATES = ['running', 'failed', 'succeeded', 'cancelled'] as const;
const HEIGHTS: RowHeights = { wide: 54, narrow: 64 };

export function OperationsPage() {
  const { rows, loading } = operations;
  useTitle(text.works.title);
  useEffect(() => operations.watch(), []);
  const all = useComputed(() => {
    void rows.revision.value;
    return rows.all().sort((a, b) => byText(b.created_at, a.created_at) || byText(a.operation_id, b.operation_id));
  }).value;
  const wanted = STATES.find((known) => known === query.value.get('state')) ?? null;
  const shown = all.filter(({ state }) => wanted === null || state === wanted);
  const { state, error } = loading.value;
  const options = STATES.map((value) => ({ value, words: text.works.state[value], count: all.filter((one) => one.state === value).length }));
  return (
    <div class="page operations-page">
      <header class="page-head">
        <h1>{text.works.title}</h1>
        <p class="soft number" role="status">
          {all.length > 0 && (wanted ? text.list.countOf(shown.length, all.length) : text.works.count(all.length))}
        </p>
      </header>
      {all.length > 0 && <Chips label={text.works.states} options={options} value={wanted ?? ''} choose={(value) => change({ state: value })} />}
      {shown.length > 0 && (
        <List
          name="operation-row"
          label={text.works.table}
          columns={COLUMNS.map((name) => ({ name, title: text.works.columns[name] }))}
          ids={shown.map(({ operation_id }) => operation_id)}
          heights={HEIGHTS}
          row={rowOf}
        />
      )}
      {all.length > 0 && shown.length === 0 && (
        <Empty icon="filter" title={text.list.noMatchTitle}>
          <p>{text.list.noMatch}</p>
          <button type="button" class="button" onClick={() => change({ state: null })}>
            {text.list.clear}
          </button>
        </Empty>
      )}
      {all.length === 0 && state === 'ready' && (
        <Empty icon="tasks" title={text.works.nothingTitle}>
          <p>{text.works.nothing}</p>
          <a class="button" href="/devices">
            {text.device.back}
          </a>
        </Empty>
      )}
      {all.length === 0 && state !== 'ready' && state !== 'failed' && <Skeleton lines={8} />}
      {state === 'failed' && all.length > 0 && <Outdated title={text.works.failedTitle} error={error} retry={() => operations.load()} />}
      {state === 'failed' && all.length === 0 && <Failed title={text.works.failedTitle} error={error} retry={() => operations.load()} />}
    </div>
  );
}

function rowOf(id: string): ListRow | null {
  const operation = operations.rows.row(id)?.value;
  if (!operation) return null;
  const words = workWords(operation.work);
  return {
    title: words,
    cells: {
      work: (
        <a class="strong" href={`/operations/${id}`}>
          <Foreign>{words}</Foreign>
        </a>
      ),
      state: <Badge tone={TONES[operation.state]}>{text.works.state[operation.state]}</Badge>,
      progress: <Progress operation={operation} />,
      created: <Time at={operation.created_at} />,
      actions: <OperationActions operation={operation} />,
    },
  };
}
