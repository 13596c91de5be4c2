// Search and filter chips in the words of a selection.

import { useSignal, type ReadonlySignal } from '@preact/signals';
import { useId } from 'preact/hooks';

import { change } from '../../app/router';
import { compareVersions, formatSelection, formatTerm, parseTerm, stateOf, type Term } from '../../data/selection';
import type { Device } from '../../data/types';
import { language, text } from '../../text';
import { brief } from '../../text/visible';
import { Icon } from '../../ui/icon';
import { Menu } from '../../ui/menu';
import { Foreign } from '../../ui/parts';
import { ColumnsMenu } from './columns';
import { ViewsMenu } from './views';
import type { View } from './view';

const MOST_OFFERED = 12;

export function Filters({ view, devices }: { view: View; devices: ReadonlySignal<Device[]> }) {
  const put = (terms: Term[]): void => change({ select: formatSelection(terms) });
  const add = (term: Term): void => {
    const words = formatTerm(term);
    if (!view.terms.some((known) => formatTerm(known) === words)) put([...view.terms, term]);
  };
  const searched = (event: Event): void => {
    const words = (event.currentTarget as HTMLInputElement).value;
    change({ q: words }, { replace: true });
  };
  const entered = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter') return;
    const term = parseTerm(view.search);
    if (typeof term === 'string') return;
    event.preventDefault();
    change({ q: null, select: formatSelection([...view.terms, term]) });
  };
  return (
    <div class="filters" role="search" aria-label={text.devices.filters}>
      <label class="search">
        <Icon name="search" />
        <input
          type="search"
          aria-label={text.devices.search}
          placeholder={text.devices.search}
          spellcheck={false}
          autocomplete="off"
          value={view.search}
          onInput={searched}
          onKeyDown={entered}
        />
      </label>
      <AddFilter devices={devices} add={add} />
      <ColumnsMenu hidden={view.hidden} />
      <ViewsMenu />
      {view.terms.map((term) => (
        <span key={formatTerm(term)} class="chip">
          <Foreign>{formatTerm(term)}</Foreign>
          <button
            type="button"
            aria-label={text.devices.removeFilter(brief(formatTerm(term)))}
            onClick={() => put(view.terms.filter((other) => other !== term))}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      {view.terms.length > 1 && (
        <button type="button" class="button quiet" onClick={() => change({ q: null, select: null })}>
          {text.devices.clear}
        </button>
      )}
    </div>
  );
}

/** What the devices offer to filter by, with counts, and a field for any other term. */
function AddFilter({ devices, add }: { devices: ReadonlySignal<Device[]>; add: (term: Term) => void }) {
  return (
    <Menu
      icon="filter"
      label={text.devices.filter}
      body={(close) => {
        const take = (term: Term): void => {
          close();
          add(term);
        };
        return (
          <>
            <TermField take={take} />
            {offers(devices.value).map(({ title, terms }) => (
              <fieldset key={title}>
                <legend>{title}</legend>
                {terms.map(([term, count]) => (
                  <button key={formatTerm(term)} type="button" onClick={() => take(term)}>
                    <Foreign>{term.value}</Foreign>
                    <span class="soft number">{count.toLocaleString(language)}</span>
                  </button>
                ))}
              </fieldset>
            ))}
          </>
        );
      }}
    />
  );
}

function TermField({ take }: { take: (term: Term) => void }) {
  const fault = useSignal('');
  const id = useId();
  const sent = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const term = parseTerm(String(new FormData(form).get('term')));
    if (typeof term === 'string') fault.value = term;
    else take(term);
  };
  return (
    <form class="term-field" onSubmit={sent}>
      <input
        name="term"
        aria-label={text.devices.filterTerm}
        aria-describedby={id}
        placeholder={text.devices.filterHint}
        autocomplete="off"
        spellcheck={false}
      />
      <button type="submit" class="button">
        {text.devices.filterAdd}
      </button>
      <p id={id} class="form-error" role="alert">
        {fault}
      </p>
    </form>
  );
}

function offers(devices: readonly Device[]): { title: string; terms: [Term, number][] }[] {
  const states = counted(devices.map(stateOf));
  const versions = counted(devices.map((device) => device.agent_version));
  const tags = counted(devices.flatMap((device) => device.tags ?? []));
  const groups: { title: string; terms: [Term, number][] }[] = [
    {
      title: text.devices.filterState,
      terms: states.map(([value, count]) => [{ field: 'state', comparison: '=', value }, count]),
    },
    {
      title: text.devices.filterVersion,
      terms: versions
        .sort(([a], [b]) => compareVersions(b, a))
        .map(([value, count]) => [{ field: 'version', comparison: '=', value }, count]),
    },
    {
      title: text.devices.filterTag,
      terms: tags.map(([value, count]) => [{ field: 'tag', comparison: '=', value }, count]),
    },
  ];
  return groups.filter(({ terms }) => terms.length > 0);
}

/** Returns the most frequent values with their counts. */
function counted<T extends string>(values: readonly T[]): [T, number][] {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, MOST_OFFERED);
}
