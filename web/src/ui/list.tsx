// A table of any number of rows: only those in sight are in the document, and each is drawn again only when what it shows
// has changed. Its columns are sorted and its rows are selected if the page says so. On wide screens all rows have one height;
// on narrow ones a row is as high as its lines.

import { useComputed, type Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useCallback, useRef } from 'preact/hooks';

import { text } from '../text';
import { brief } from '../text/visible';
import { useFollowedRow } from './followed';
import { Icon } from './icon';
import { narrow } from './narrow';
import type { Order } from './order';
import { headHeight, scaled } from './scale';
import { useVirtual } from './virtual';

import './list.css';

export interface ListColumn {
  name: string;
  title: string;
  sortable?: boolean;
}

export interface ListRow {
  /** What a screen reader calls the row. */
  title: string;
  cells: Record<string, ComponentChildren>;
}

export interface RowHeights {
  /** The height of a row on wide screens, in pixels. */
  wide: number;
  /** The height of the usual row on narrow screens, in pixels, which counts until a row is measured. */
  narrow: number;
}

interface Props {
  /** The class of the rows, which gives the columns their widths. */
  name: string;
  label: string;
  columns: readonly ListColumn[];
  ids: string[];
  heights: RowHeights;
  row: (id: string) => ListRow | null;
  order?: Order;
  sort?: (column: string) => void;
  selected?: Signal<ReadonlySet<string>> | undefined;
  /** What the actions of a row act on, if a row with another id can take its place. */
  actedOn?: (id: string) => string | null;
  /** Whether more rows are still to come: until then, not all can be selected. */
  grows?: boolean;
}

export function List({ name, label, columns, ids, heights, row, order, sort, selected, actedOn, grows = false }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const isNarrow = narrow.value;
  const height = scaled(isNarrow ? heights.narrow : heights.wide);
  const head = headHeight();
  const idOf = useCallback((index: number) => ids[index] ?? index, [ids]);
  const { items, total, measure, reveal } = useVirtual(scroller, ids.length, height, isNarrow ? idOf : undefined);
  useFollowedRow(scroller, ids, actedOn, reveal);
  const chosen = selected ? ids.reduce((count, id) => count + Number(selected.value.has(id)), 0) : 0;
  const toggleAll = (): void => {
    if (selected) selected.value = chosen === ids.length ? new Set() : new Set(ids);
  };
  return (
    <div class="list-frame" style={{ flexBasis: `${total + head}px`, minHeight: `min(${total + head}px, 10rem)` }}>
      <div
        class="list-scroll"
        ref={scroller}
        tabIndex={0}
        role="table"
        aria-label={label}
        aria-rowcount={ids.length + 1}
        aria-colcount={columns.length + (selected ? 1 : 0)}
      >
        <div role="rowgroup" class="list-head">
          <div class={`list-row ${name}`} role="row" aria-rowindex={1}>
            {selected && (
              <div class="list-cell check" role="columnheader">
                <label class="pick">
                  <input
                    type="checkbox"
                    aria-label={grows ? text.list.selectLater : text.list.selectAll(ids.length)}
                    title={grows ? text.list.selectLater : text.list.selectAll(ids.length)}
                    disabled={grows}
                    checked={chosen > 0 && chosen === ids.length}
                    indeterminate={chosen > 0 && chosen < ids.length}
                    onChange={toggleAll}
                  />
                </label>
              </div>
            )}
            {columns.map((column) => (
              <Head key={column.name} column={column} order={order} sort={sort} />
            ))}
          </div>
        </div>
        <div role="rowgroup" class="list-rows" style={{ height: `${total}px` }}>
          {items.map(({ index, start }) => {
            const id = ids[index];
            return id === undefined ? null : (
              <Row
                key={id}
                id={id}
                index={index}
                start={start}
                height={isNarrow ? null : height}
                measure={measure}
                name={name}
                columns={columns}
                row={row}
                selected={selected}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Head({ column, order, sort }: { column: ListColumn; order: Order | undefined; sort: ((column: string) => void) | undefined }) {
  const { name, title, sortable } = column;
  if (!sortable || !sort) {
    return (
      <div class={`list-cell ${name}`} role="columnheader">
        {title}
      </div>
    );
  }
  const active = order?.column === name;
  return (
    <div class={`list-cell ${name}`} role="columnheader" aria-sort={active ? (order.descending ? 'descending' : 'ascending') : 'none'}>
      <button type="button" title={text.list.sortBy(title)} onClick={() => sort(name)}>
        {title}
        {active && <Icon name={order.descending ? 'down' : 'up'} />}
      </button>
    </div>
  );
}

interface RowProps {
  id: string;
  index: number;
  start: number;
  /** The height in pixels. Null for a row that is as high as its lines. */
  height: number | null;
  measure: (row: HTMLElement | null) => void;
  name: string;
  columns: readonly ListColumn[];
  row: (id: string) => ListRow | null;
  selected: Signal<ReadonlySet<string>> | undefined;
}

function Row({ id, index, start, height, measure, name, columns, row, selected }: RowProps) {
  const picked = useComputed(() => selected?.value.has(id) ?? false).value;
  const shown = row(id);
  if (!shown) return null;
  const toggle = (): void => {
    if (!selected) return;
    const next = new Set(selected.peek());
    if (!next.delete(id)) next.add(id);
    selected.value = next;
  };
  return (
    <div
      class={`list-row ${name}${picked ? ' picked' : ''}${height === null ? ' measured' : ''}`}
      ref={height === null ? measure : null}
      data-index={index}
      role="row"
      aria-rowindex={index + 2}
      data-id={id}
      style={{ transform: `translateY(${start}px)`, height: height === null ? 'auto' : `${height}px` }}
    >
      {selected && (
        <div class="list-cell check" role="cell">
          <label class="pick">
            <input type="checkbox" aria-label={text.list.select(brief(shown.title, 200))} checked={picked} onChange={toggle} />
          </label>
        </div>
      )}
      {columns.map((column) => (
        <div key={column.name} class={`list-cell ${column.name}`} role="cell">
          {shown.cells[column.name]}
        </div>
      ))}
    </div>
  );
}
