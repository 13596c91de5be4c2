// The table of devices. Each row follows its own signal, and only rows in sight are in the document.

import { useComputed, type ReadonlySignal, type Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo, useRef } from 'preact/hooks';

import { stateOf } from '../../data/selection';
import { devices } from '../../data/store';
import type { Device } from '../../data/types';
import { text } from '../../text';
import { percent } from '../../text/format';
import { brief } from '../../text/visible';
import { Icon } from '../../ui/icon';
import { narrow } from '../../ui/narrow';
import { Badge, Foreign, levelOf, Time } from '../../ui/parts';
import { AgentVersion } from '../../ui/version';
import { DeviceBadge } from '../../ui/device_badge';
import { headHeight, scaled, touched } from '../../ui/scale';
import { useVirtual } from '../../ui/virtual';
import { COLUMNS, platformOf, shareOf, type ByDevice, type Column, type Order } from './view';

import './table.css';
import './row.css';

/** The heights of a row in pixels, as the style sheet has them. */
const ROW = { mouse: 42, finger: 46 };
const NARROW_ROW = { mouse: 64, finger: 89 };
const MOST_TAGS = 2;

interface Props {
  ids: string[];
  byDevice: ReadonlySignal<ByDevice>;
  order: Order;
  hidden: ReadonlySet<Column>;
  sort: (column: Column) => void;
  selected: Signal<ReadonlySet<string>>;
  /** Whether more devices are still to come. */
  grows: boolean;
}

export function Table({ ids, byDevice, order, hidden, sort, selected, grows }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const height = scaled((narrow.value ? NARROW_ROW : ROW)[touched.value ? 'finger' : 'mouse']);
  const { items, total } = useVirtual(scroller, ids.length, height);
  const ticked = selected.value;
  const chosen = useMemo(() => ids.reduce((count, id) => count + Number(ticked.has(id)), 0), [ids, ticked]);
  const toggleAll = (): void => {
    selected.value = chosen === ids.length ? new Set() : new Set(ids);
  };
  // The same columns at every drawing: a row whose properties are the same is not drawn again while the list is scrolled.
  const shown = useMemo(() => COLUMNS.filter((column) => !hidden.has(column)), [hidden]);
  return (
    <div class="table-frame" style={{ flexBasis: `${total + headHeight()}px` }}>
      <div
        class={['table-scroll', ...[...hidden].map((column) => `without-${column}`)].join(' ')}
        ref={scroller}
        tabIndex={0}
        role="table"
        aria-label={text.devices.table}
        aria-rowcount={ids.length + 1}
        aria-colcount={shown.length + 1}
      >
        <div role="rowgroup" class="table-head">
          <div class="device-row" role="row" aria-rowindex={1}>
            <div class="cell check" role="columnheader">
              <label class="pick">
                <input
                  type="checkbox"
                  aria-label={grows ? text.list.selectLater : text.devices.selectAll(ids.length)}
                  title={grows ? text.list.selectLater : text.devices.selectAll(ids.length)}
                  disabled={grows}
                  checked={chosen > 0 && chosen === ids.length}
                  indeterminate={chosen > 0 && chosen < ids.length}
                  onChange={toggleAll}
                />
              </label>
            </div>
            {shown.map((column) => (
              <Head key={column} column={column} order={order} sort={sort} />
            ))}
          </div>
        </div>
        <div role="rowgroup" class="table-rows" style={{ height: `${total}px` }}>
          {items.map(({ index, start }) => {
            const id = ids[index];
            return id === undefined ? null : (
              <Row key={id} id={id} index={index} start={start} shown={shown} byDevice={byDevice} selected={selected} />
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Head({ column, order, sort }: { column: Column; order: Order; sort: (column: Column) => void }) {
  const active = order.column === column;
  const direction = active ? (order.descending ? 'descending' : 'ascending') : 'none';
  return (
    <div class={`cell ${column}`} role="columnheader" aria-sort={direction}>
      <button type="button" title={text.devices.sortBy(text.devices.columns[column])} onClick={() => sort(column)}>
        {text.devices.columns[column]}
        {active && <Icon name={order.descending ? 'down' : 'up'} />}
      </button>
    </div>
  );
}

interface RowProps {
  id: string;
  index: number;
  start: number;
  shown: readonly Column[];
  byDevice: ReadonlySignal<ByDevice>;
  selected: Signal<ReadonlySet<string>>;
}

function Row({ id, index, start, shown, byDevice, selected }: RowProps) {
  const picked = useComputed(() => selected.value.has(id)).value;
  const device = devices.row(id)?.value;
  if (!device) return null;
  const toggle = (): void => {
    const next = new Set(selected.peek());
    if (!next.delete(id)) next.add(id);
    selected.value = next;
  };
  return (
    <div
      class={picked ? 'device-row picked' : 'device-row'}
      role="row"
      aria-rowindex={index + 2}
      data-state={stateOf(device)}
      style={{ top: `${start}px` }}
    >
      <div class="cell check" role="cell">
        <label class="pick">
          <input type="checkbox" aria-label={text.devices.select(brief(device.name))} checked={picked} onChange={toggle} />
        </label>
      </div>
      {shown.map((column) => cellOf(column, device, byDevice))}
    </div>
  );
}

/** A cell with a share is its own meter: a scrolled frame costs what its elements do, and a row has three of them. */
function cellOf(column: Column, device: Device, byDevice: ReadonlySignal<ByDevice>): ComponentChildren {
  const share = shareOf(column, device);
  if (share === null) {
    return (
      <div key={column} class={`cell ${column}`} role="cell">
        {contentOf(column, device, byDevice)}
      </div>
    );
  }
  return (
    <div key={column} class={`cell ${column} share ${levelOf(share)}`} role="cell" style={{ '--share': `${Math.round(Math.min(share, 1) * 100)}%` }}>
      {percent(share * 100)}
    </div>
  );
}

function contentOf(column: Column, device: Device, byDevice: ReadonlySignal<ByDevice>): ComponentChildren {
  switch (column) {
    case 'name':
      return (
        <a href={`/devices/${device.device_id}`}>
          <Foreign>{device.name}</Foreign>
        </a>
      );
    case 'state':
      return <DeviceBadge device={device} />;
    case 'version':
      return <Version device={device} />;
    case 'platform':
      return <Foreign>{platformOf(device)}</Foreign>;
    case 'models':
      return <Models id={device.device_id} byDevice={byDevice} />;
    case 'tags':
      return <Tags tags={device.tags ?? []} />;
    case 'seen':
      return device.online ? text.time.now : <Time at={device.last_seen_at} />;
    default:
      return null;
  }
}

function Tags({ tags }: { tags: readonly string[] }) {
  return (
    <>
      {tags.slice(0, MOST_TAGS).map((tag) => (
        <Foreign key={tag} class="tag">
          {tag}
        </Foreign>
      ))}
      {tags.length > MOST_TAGS && (
        <span class="soft small" title={brief(tags.join(', '), 500)}>
          {text.devices.more(tags.length - MOST_TAGS)}
        </span>
      )}
    </>
  );
}

function Version({ device }: { device: Device }) {
  const { agent_version: runs, last_update: last } = device;
  const updated = last?.outcome !== 'rolled_back' && last?.to === runs;
  if (!updated && last?.outcome !== 'rolled_back') return <AgentVersion device={device} />;
  return (
    <span class="version-lines">
      <AgentVersion device={device} />
      {updated ? (
        <span class="soft" title={brief(text.devices.updatedFrom(last.from))}>
          <Foreign>{text.devices.from(last.from)}</Foreign>
        </span>
      ) : (
        <span class="back-from" title={brief([last.to, last.reason].filter(Boolean).join(': '), 500)}>
          {text.devices.rolledBack}
        </span>
      )}
    </span>
  );
}

function Models({ id, byDevice }: { id: string; byDevice: ReadonlySignal<ByDevice> }) {
  const summary = useComputed(() => {
    const all = byDevice.value.get(id) ?? [];
    const stale = all.filter((deployment) => deployment.stale).length;
    // A text, so that a deployment of another device leaves this cell as it is.
    return `${all.length} ${stale} ${all[0]?.alias ?? ''}`;
  }).value;
  const [count = '', stale, ...first] = summary.split(' ');
  if (count === '0') return <span class="soft">–</span>;
  return (
    <>
      {count === '1' ? <Foreign>{first.join(' ')}</Foreign> : <span>{text.devices.models(Number(count))}</span>}
      {stale !== '0' && (
        <Badge tone="warn" title={text.devices.staleTitle(Number(stale))} href={`/deployments?device_id=${id}&state=stale`}>
          {text.devices.stale(Number(stale))}
        </Badge>
      )}
    </>
  );
}
