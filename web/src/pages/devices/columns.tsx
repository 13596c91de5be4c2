// Which columns the table of devices shows.

import { text } from '../../text';
import { Menu } from '../../ui/menu';
import { change } from '../../ui/router';
import { COLUMNS, hiddenWords, type Column } from './view';

import './columns.css';

/** The columns whose room the platform can take in a window that has none for all. */
const WIDE: readonly Column[] = ['state', 'version', 'models', 'tags'];

export function ColumnsMenu({ hidden }: { hidden: ReadonlySet<Column> }) {
  const toggle = (column: Column): void => {
    const next = new Set(hidden);
    if (!next.delete(column)) next.add(column);
    change({ hide: hiddenWords(next) });
  };
  return (
    <Menu
      icon="columns"
      label={text.devices.columnsMenu}
      body={() => (
        <fieldset>
          <legend>{text.devices.columnsShown}</legend>
          {COLUMNS.filter((column) => column !== 'name').map((column) => (
            <label key={column} class="menu-choice">
              <input type="checkbox" checked={!hidden.has(column)} onChange={() => toggle(column)} />
              {text.devices.columns[column]}
            </label>
          ))}
          {!WIDE.some((column) => hidden.has(column)) && matchMedia('(min-width: 801px) and (max-width: 1400px)').matches && <p class="hint">{text.devices.noRoom}</p>}
        </fieldset>
      )}
    />
  );
}
