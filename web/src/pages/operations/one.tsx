// One operation: how far it has come, and its result on each device, which follow the operation while it runs.

import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { members, useList } from '../../data/account';
import { ask, GET } from '../../data/client';
import { operations } from '../../data/operator';
import { Problem } from '../../data/problem';
import type { Operation } from '../../data/types';
import { text } from '../../text';
import { brief } from '../../text/visible';
import { Chips } from '../../ui/choice';
import { Filled } from '../../ui/filled';
import { Icon } from '../../ui/icon';
import { Badge, Empty, Failed, Foreign, Skeleton, Time } from '../../ui/parts';
import { change, path, query } from '../../ui/router';
import { useTitle } from '../../ui/title';
import { OperationActions } from './actions';
import { Progress } from './progress';
import { Results } from './results';
import { TONES, workWords } from './words';

import '../../ui/tabs.css';
import './operations.css';

const STATES = ['failed', 'pending', 'sent', 'succeeded', 'skipped', 'cancelled'] as const;
/** What the address says where no state is chosen, although one would be. */
const ALL = 'all';

export function OperationPage() {
  useEffect(() => operations.watch(), []);
  const id = path.value.split('/')[2] ?? '';
  return <One key={id} id={id} />;
}

function One({ id }: { id: string }) {
  const { rows } = operations;
  const operation = useComputed(() => (rows.revision.value, rows.row(id)?.value)).value;
  const failed = useSignal<unknown>(null);
  const asked = useSignal(0);
  const known = operation !== undefined;
  useEffect(() => {
    // A pasted address does not wait for the list of all operations.
    if (known) return;
    ask(GET('/api/v1/operations/{operation_id}', { params: { path: { operation_id: id } } })).then(
      (loaded) => rows.changed(loaded),
      (error: unknown) => (failed.value = error),
    );
  }, [id, known, asked.value]);
  if (operation) return <Shown operation={operation} />;
  const { value: error } = failed;
  if (error instanceof Problem && (error.status === 404 || error.status === 422)) {
    return (
      <Empty alone icon="tasks" title={text.works.missingTitle}>
        <p>{text.works.missing}</p>
        <a class="button" href="/operations">
          {text.works.back}
        </a>
      </Empty>
    );
  }
  if (error !== null) {
    const retry = (): void => {
      failed.value = null;
      asked.value += 1;
    };
    return <Failed alone title={text.works.oneFailedTitle} error={error} retry={retry} />;
  }
  return <Skeleton alone lines={8} />;
}

function Shown({ operation }: { operation: Operation }) {
  const words = workWords(operation.work);
  useTitle(brief(words, 80));
  const { counts, state, select, created_at: begun, ended_at: end, requested_by: by } = operation;
  // Whoever opens an operation that has ended with failures looks for these. Of one that ends meanwhile no row goes away.
  const opensFailed = useRef(Boolean(end)).current && counts.failed > 0;
  const asked = query.value.get('state') ?? (opensFailed ? 'failed' : '');
  const wanted = STATES.find((known) => known === asked) ?? null;
  const options = STATES.map((value) => ({ value, words: text.works.item[value], count: counts[value] })).filter(
    ({ count, value }) => count > 0 || value === wanted,
  );
  return (
    <div class="page operation-page">
      <header class="operation-head">
        <a class="back" href="/operations">
          <Icon name="back" />
          {text.works.back}
        </a>
        <div class="title-line">
          <h1>
            <Foreign>{words}</Foreign>
          </h1>
          <span role="status">
            <Badge tone={TONES[state]}>{text.works.state[state]}</Badge>
          </span>
          <OperationActions operation={operation} />
        </div>
        <p class="facts soft small">
          <span>
            <Filled words={text.works.started} parts={{ when: <Time at={begun} />, who: <Who by={by} /> }} />
          </span>
          {end && (
            <span>
              <Filled words={text.works.endedAt} parts={{ when: <Time at={end} /> }} />
            </span>
          )}
          {select && (
            <span>
              <Filled words={text.works.selection} parts={{ selection: <Foreign class="tag">{select}</Foreign> }} />
            </span>
          )}
        </p>
        <Progress operation={operation} />
      </header>
      <Chips label={text.works.itemStates} options={options} value={wanted ?? ''} choose={(value) => change({ state: value === '' && opensFailed ? ALL : value })} />
      <Results key={wanted ?? ''} operation={operation} wanted={wanted} />
    </div>
  );
}

/** Names who began an operation: a member by the address, as long as they are one. */
function Who({ by }: { by: Operation['requested_by'] }) {
  useList(members, by.kind === 'user');
  void members.rows.revision.value;
  const member = by.kind === 'user' ? members.rows.row(by.id ?? '')?.value : undefined;
  return member ? <Foreign class="strong">{member.email}</Foreign> : <>{text.works.actor[by.kind]}</>;
}
