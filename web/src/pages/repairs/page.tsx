// The queue of repairs: where each command is, how long it is good for, what the device said, and another try.

import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { olderRepairs, repairs } from '../../data/operator';
import { controllable, leftOut } from '../../data/controllable';
import { nameOf } from '../../data/model_name';
import { modelName } from '../../data/names';
import { may } from '../../data/permission';
import { stateOf } from '../../data/selection';
import { devices, devicesLoading, isWhole, models, reload, together } from '../../data/store';
import type { Command } from '../../data/types';
import { text } from '../../text';
import { span } from '../../text/span';
import { Chips } from '../../ui/choice';
import { now } from '../../ui/clock';
import { useCalm } from '../../ui/lasting';
import { List, type ListRow, type RowHeights } from '../../ui/list';
import { ManyDialog, partsOf } from '../../ui/many';
import { notice } from '../../ui/notices';
import { Badge, Empty, Failed, Foreign, Outdated, Skeleton, Time, type Tone } from '../../ui/parts';
import { Said } from '../../ui/prose';
import { change, query } from '../../ui/router';
import { SearchAndFilters } from '../../ui/search';
import { useSelected } from '../../ui/selection';
import { useTitle } from '../../ui/title';
import { Remedies } from './remedies';
import { fitting, newestOf, repairStatus, REPAIR_STATUSES, timeLeft, viewOf, worthRetrying, type Named, type RepairStatus } from './view';

import './repairs.css';

const COLUMNS = ['standing', 'model', 'device', 'created', 'result', 'actions'] as const;
const HEIGHTS: RowHeights = { wide: 50, narrow: 86 };
const TONES: Record<RepairStatus, Tone> = {
  sent: 'busy', processed: 'busy', expired: 'bad', failed: 'bad', succeeded: 'good', superseded: 'quiet',
};

export function RepairsPage() {
  const { rows, loading } = repairs;
  useTitle(text.repairing.title);
  useEffect(() => repairs.watch(), []);
  const view = useComputed(() => viewOf(query.value));
  const all = useComputed(() => {
    void [rows.revision.value, devices.revision.value, models.revision.value];
    return rows.all().map(named);
  });
  // Of all repairs, whatever the filters leave out: an older one is settled by a newer one that is not shown.
  const newest = useComputed(() => newestOf(all.value.map(({ command }) => command)));
  const on = useSelected();
  const found = useComputed(() => fitting(all.value, view.value, on.value));
  const shown = useComputed(() => {
    const { status } = view.value;
    return status === null ? found.value : found.value.filter(({ command }) => repairStatus(command) === status);
  });
  const selected = useSignal<ReadonlySet<string>>(new Set());
  const { search, status, model, device, terms } = view.value;
  const filtered = search !== '' || status !== null || model !== '' || device !== '' || terms.length > 0;
  const clear = (): void => change({ q: null, state: null, model_id: null, device_id: null, select: null });
  // Which repairs fit a selection of devices is known once the devices are.
  const { state, error } = terms.length > 0 ? together([loading.value, devicesLoading.value]) : loading.value;
  const isKnown = state === 'ready' || state === 'refreshing';
  const isLoading = state === 'idle' || state === 'loading';
  const chosen = shown.value.map(({ command }) => command).filter(({ command_id: id }) => selected.value.has(id));
  const operates = may('serving:operate');
  const options = REPAIR_STATUSES.map((value) => ({
    value,
    words: text.repairing.status[value],
    count: found.value.filter(({ command }) => repairStatus(command) === value).length,
  }));
  const mendable = shown.value.some(({ command }) => isMendable(command, newest.value.has(command.command_id)));
  const names = new Map(shown.value.map((one) => [one.command.command_id, one]));
  const count = filtered ? text.list.countOf(shown.value.length, all.value.length) : text.repairing.count(all.value.length);
  // A device that comes and goes is not told each time.
  const asked = isLoading || terms.length === 0 ? count : `${state} ${query.value}`;
  const counted = useCalm(all.value.length === 0 ? '' : isLoading ? text.list.soFar(count) : count, asked);
  return (
    <div class={mendable ? 'page repairs-page' : 'page repairs-page without-actions'}>
      <header class="page-head">
        <h1>{text.repairing.title}</h1>
        <p class="soft number" role={isLoading ? undefined : 'status'}>
          {counted}
        </p>
        <span class="spacer" />
        {operates && <RetryExpired expired={terms.length > 0 && !isKnown ? [] : worthRetrying(found.value.map(({ command }) => command))} />}
      </header>
      {all.value.length > 0 && (
        <>
          <SearchAndFilters search={search} model={model} device={device} terms={terms} />
          <Chips label={text.repairing.states} options={options} value={status ?? ''} choose={(value) => change({ state: value })} clear={filtered && clear} />
          {operates && <RepairBar chosen={chosen} unselect={() => (selected.value = new Set())} />}
        </>
      )}
      {shown.value.length > 0 && (
        <List
          name="repair-row"
          label={text.repairing.table}
          columns={COLUMNS.map((name) => ({ name, title: text.repairing.columns[name] }))}
          ids={shown.value.map(({ command }) => command.command_id)}
          heights={HEIGHTS}
          selected={operates ? selected : undefined}
          grows={!isWhole(loading.value)}
          row={(id) => rowOf(id, names.get(id), newest.value.has(id))}
        />
      )}
      {isKnown && olderRepairs.value && <p class="soft">{text.repairing.older}</p>}
      {all.value.length > 0 && shown.value.length === 0 && isKnown && (
        <Empty icon="filter" title={text.list.noMatchTitle}>
          <p>{text.list.noMatch}</p>
          <button type="button" class="button" onClick={clear}>
            {text.list.clear}
          </button>
        </Empty>
      )}
      {all.value.length > 0 && shown.value.length === 0 && isLoading && <Skeleton lines={10} />}
      {all.value.length === 0 && state === 'ready' && (
        <Empty icon="wrench" title={text.repairing.nothingTitle}>
          <p>{text.repairing.nothing}</p>
          <a class="button" href="/deployments">
            {text.repairing.nothingAction}
          </a>
        </Empty>
      )}
      {all.value.length === 0 && (isLoading || state === 'refreshing') && <Skeleton lines={10} />}
      {state === 'failed' && all.value.length > 0 && (
        <Outdated title={text.repairing.failedTitle} error={error} retry={() => void reload()} />
      )}
      {state === 'failed' && all.value.length === 0 && (
        <Failed title={text.repairing.failedTitle} error={error} retry={() => void reload()} />
      )}
    </div>
  );
}

/** Repairs anew what has expired. */
function RetryExpired({ expired }: { expired: readonly Command[] }) {
  const open = useSignal(false);
  const targets = useRef<readonly Command[]>([]);
  const left = useRef(0);
  if (expired.length === 0 && !open.value) return null;
  const show = (): void => {
    targets.current = controllable(expired);
    left.current = leftOut(expired);
    if (targets.current.length === 0) notice(text.deployed.updating);
    else open.value = true;
  };
  return (
    <>
      <button type="button" class="button" onClick={show}>
        {text.repairing.retryExpired(expired.length)}
      </button>
      {open.value && (
        <Again title={text.repairing.retryTitle} why={text.repairing.retryWhy} targets={targets.current} left={left.current} close={() => (open.value = false)} />
      )}
    </>
  );
}

/** The bar stays while its dialog is open: a repair that leaves the list by itself takes no dialog with it. */
function RepairBar({ chosen, unselect }: { chosen: readonly Command[]; unselect: () => void }) {
  const open = useSignal(false);
  const targets = useRef<readonly Command[]>([]);
  const left = useRef(0);
  const show = (): void => {
    targets.current = controllable(chosen);
    left.current = leftOut(chosen);
    if (targets.current.length === 0) notice(text.deployed.updating);
    else open.value = true;
  };
  if (chosen.length === 0 && !open.value) return null;
  return (
    <div class="list-bar" role="region" aria-label={text.list.bar}>
      <strong class="number" role="status">
        {text.list.selected(chosen.length)}
      </strong>
      <button type="button" class="button" onClick={show}>
        {text.repairing.repairSelected}
      </button>
      <span class="spacer" />
      <button type="button" class="button quiet" onClick={unselect}>
        {text.list.unselect}
      </button>
      {open.value && (
        <Again title={text.deployed.repairTitle} why={text.deployed.repairWhy} targets={targets.current} left={left.current} close={() => (open.value = false)} />
      )}
    </div>
  );
}

interface AgainProps {
  title: string;
  why: string;
  targets: readonly Command[];
  left: number;
  close: () => void;
}

function Again({ title, why, targets, left, close }: AgainProps) {
  const things = targets.flatMap(({ model_id, device_id }) => (model_id ? [{ model_id, device_id }] : []));
  const parts = partsOf(things, (model) => modelName(model), (model) => ({ kind: 'repair', model_id: model }));
  return <ManyDialog title={title} why={why} action={text.deployed.repairRun} parts={parts} left={left} close={close} />;
}

/** Tells whether there is something that mends the model of a repair. */
function isMendable(command: Command, isNewest: boolean): boolean {
  const status = repairStatus(command);
  return may('serving:operate') && isNewest && (status === 'expired' || status === 'failed');
}

function rowOf(id: string, names: Named | undefined, isNewest: boolean): ListRow | null {
  const command = repairs.rows.row(id)?.value;
  if (!command || !names) return null;
  const status = repairStatus(command);
  const left = timeLeft(command, now.value);
  return {
    title: text.deployed.rowOf(names.model, names.device),
    cells: {
      standing: (
        <div class="stacked">
          <Badge tone={TONES[status]}>{text.repairing.status[status]}</Badge>
          {left !== null && <span class="number small soft">{text.repairing.left(span(left))}</span>}
        </div>
      ),
      model: command.model_id ? (
        <a class="strong" href={`/models/${command.model_id}`}>
          <Foreign>{names.model}</Foreign>
        </a>
      ) : (
        <Foreign>{names.model}</Foreign>
      ),
      device: (
        <a href={`/devices/${command.device_id}?tab=commands`}>
          <Foreign>{names.device}</Foreign>
        </a>
      ),
      created: <Time at={command.created_at} />,
      result: <Said words={resultOf(command)} />,
      actions: isMendable(command, isNewest) && (
        <Remedies command={command} name={names.model} moves={status === 'failed'} />
      ),
    },
  };
}

/** What the device said; without a report, what the repair waits for. */
function resultOf(command: Command): string {
  if (command.result?.output) return command.result.output;
  if (command.note) return command.note;
  switch (repairStatus(command)) {
    case 'sent': {
      const device = devices.row(command.device_id)?.value;
      const isAway = device !== undefined && stateOf(device) === 'offline';
      return isAway ? text.repairing.waitingForDevice : text.repairing.waitingForReceipt;
    }
    case 'processed':
      return text.repairing.waiting;
    case 'expired':
      return text.repairing.expired;
    case 'superseded':
      return text.repairing.superseded;
    case 'failed':
    case 'succeeded':
      return '';
  }
}

function named(command: Command): Named {
  const model = command.model_id ? models.row(command.model_id)?.peek() : undefined;
  return {
    command,
    model: model ? nameOf(model) : (command.model_id ?? ''),
    device: devices.row(command.device_id)?.peek().name ?? command.device_id,
  };
}
