// A list of things with a few fields each: a table, whose rows are cards on a narrow screen. A long list is drawn in steps.

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

import type { Loading } from '../data/store';
import { text } from '../text';
import { Failed, Outdated, Skeleton } from './parts';

import './records.css';

/** The rows that are drawn at first, and with each further step. */
const STEP = 200;

export interface Column<T> {
  name: string;
  cell: (item: T) => ComponentChildren;
  /** A class of its cells: `wide` takes what the others leave, `actions` has the controls. */
  class?: string;
}

interface Props<T> {
  label: string;
  columns: readonly Column<T>[];
  items: readonly T[];
  idOf: (item: T) => string;
}

// The roles are written down, since a style sheet that makes blocks of the rows takes them away.
export function Records<T>({ label, columns, items, idOf }: Props<T>) {
  const most = useSignal(STEP);
  const shown = items.slice(0, most.value);
  return (
    <>
      <table class="records" role="table" aria-label={label} aria-rowcount={items.length + 1}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column, place) => (
              <th key={place} role="columnheader" scope="col" class={column.class}>
                <span class={column.class === 'actions' ? 'visually-hidden' : undefined}>{column.name}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {shown.map((item) => (
            <tr key={idOf(item)} role="row" data-id={idOf(item)}>
              {columns.map((column, place) => (
                <td key={place} role="cell" class={column.class} data-label={column.name}>
                  {column.cell(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {items.length > shown.length && (
        <button type="button" class="button records-more" onClick={() => (most.value += STEP)}>
          {text.admin.showMore(items.length - shown.length)}
        </button>
      )}
    </>
  );
}

/** The placeholder of a list until it is loaded, and its error if it could not be loaded or refreshed. */
export function ListState({ loading, count, title, retry, children }: {
  loading: Loading;
  count: number;
  title: string;
  retry: () => void;
  /** What is shown with `count` things, also with none. */
  children: ComponentChildren;
}) {
  if (loading.state === 'failed' && count === 0) return <Failed title={title} error={loading.error} retry={retry} />;
  if (loading.state !== 'ready' && count === 0) return <Skeleton lines={5} />;
  return (
    <>
      {loading.state === 'failed' && <Outdated title={title} error={loading.error} retry={retry} />}
      {children}
    </>
  );
}
