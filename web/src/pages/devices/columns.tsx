// Which columns the table of devices shows.

import { change } from '../../app/router';
import { text } from '../../text';
import { Menu } from '../../ui/menu';
import { COLUMNS, hiddenWords, type Column } from './view';

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
        </fieldset>
      )}
    />
  );
}
