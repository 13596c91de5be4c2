// Search and filter chips in the words of a selection.

import type { ReadonlySignal } from '@preact/signals';

import { formatSelection, parseTerm } from '../../data/selection';
import type { Device } from '../../data/types';
import { text } from '../../text';
import { change } from '../../ui/router';
import { SearchField } from '../../ui/search_field';
import { SelectionChips, SelectionMenu } from '../../ui/selection';
import { ColumnsMenu } from './columns';
import { ViewsMenu } from './views';
import type { View } from './view';

export function Filters({ view, devices }: { view: View; devices: ReadonlySignal<Device[]> }) {
  const entered = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter') return;
    const term = parseTerm(view.search);
    if (typeof term === 'string') return;
    event.preventDefault();
    change({ q: null, select: formatSelection([...view.terms, term]) });
  };
  return (
    <div class="filters" role="search" aria-label={text.devices.filters}>
      <SearchField label={text.devices.search} words={view.search} pressed={entered} />
      <SelectionMenu label={text.devices.filter} devices={devices} terms={view.terms} />
      <ColumnsMenu hidden={view.hidden} />
      <ViewsMenu />
      <SelectionChips terms={view.terms} />
      {view.terms.length > 1 && (
        <button type="button" class="button quiet" onClick={() => change({ q: null, select: null })}>
          {text.devices.clear}
        </button>
      )}
    </div>
  );
}
