// A selection of devices in the address, such as `tag=lab,version<1.3.0`: a menu that adds a term, and a chip for each.

import { useComputed, useSignal, type ReadonlySignal } from '@preact/signals';
import { useId } from 'preact/hooks';

import { compareVersions, formatSelection, formatTerm, matches, parseSelection, parseTerm, stateOf, type Term, whyUnread } from '../data/selection';
import { devices as known } from '../data/store';
import type { Device } from '../data/types';
import { language, text } from '../text';
import { brief } from '../text/visible';
import { FormError } from './form_error';
import { Icon } from './icon';
import { Menu } from './menu';
import { Foreign } from './parts';
import { change, query } from './router';

const MOST_OFFERED = 12;

/** Returns the ids of the devices that fit the selection in the address, or nothing without a selection. */
export function useSelected(): ReadonlySignal<ReadonlySet<string> | null> {
  const words = useComputed(() => query.value.get('select') ?? '');
  return useComputed(() => {
    const terms = parseSelection(words.value);
    if (terms.length === 0) return null;
    void known.revision.value;
    return new Set(known.all().flatMap((device) => (matches(terms, device) ? [device.device_id] : [])));
  });
}

export function SelectionChips({ terms }: { terms: readonly Term[] }) {
  // Only the first fault is said: the next one follows once its term is gone.
  const why = terms.map(whyUnread).find((words) => words !== null);
  return (
    <>
      {terms.map((term) => (
        <span key={formatTerm(term)} class={whyUnread(term) === null ? 'chip' : 'chip bad'}>
          <Foreign>{formatTerm(term)}</Foreign>
          <button
            type="button"
            aria-label={text.devices.removeFilter(brief(formatTerm(term)))}
            onClick={() => put(terms.filter((other) => other !== term))}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      {why && <FormError words={why} />}
    </>
  );
}

interface MenuProps {
  label: string;
  devices: ReadonlySignal<readonly Device[]>;
  terms: readonly Term[];
}

/** What the devices offer to select by, with counts, and a field for any other term. */
export function SelectionMenu({ label, devices, terms }: MenuProps) {
  const add = (term: Term): void => {
    const words = formatTerm(term);
    if (!terms.some((known) => formatTerm(known) === words)) put([...terms, term]);
  };
  return (
    <Menu
      icon="filter"
      label={label}
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
                {terms.map(({ term, count }) => (
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
        required
        aria-label={text.devices.filterTerm}
        aria-describedby={id}
        placeholder={text.devices.filterHint}
        autocomplete="off"
        spellcheck={false}
      />
      <button type="submit" class="button">
        {text.devices.filterAdd}
      </button>
      <FormError id={id} words={fault} />
    </form>
  );
}

/** Terms about one field of the devices, each with the number of devices that it fits. */
interface Offer {
  title: string;
  terms: { term: Term; count: number }[];
}

function offers(devices: readonly Device[]): Offer[] {
  const states = counted(devices.map(stateOf));
  const versions = counted(devices.map((device) => device.agent_version));
  const tags = counted(devices.flatMap((device) => device.tags ?? []));
  const groups: Offer[] = [
    {
      title: text.devices.filterState,
      terms: states.map(({ value, count }) => ({ term: { field: 'state', comparison: '=', value }, count })),
    },
    {
      title: text.devices.filterVersion,
      terms: versions
        .sort((a, b) => compareVersions(b.value, a.value))
        .map(({ value, count }) => ({ term: { field: 'version', comparison: '=', value }, count })),
    },
    {
      title: text.devices.filterTag,
      terms: tags.map(({ value, count }) => ({ term: { field: 'tag', comparison: '=', value }, count })),
    },
  ];
  return groups.filter(({ terms }) => terms.length > 0);
}

/** Returns the most frequent values with their counts. */
function counted<T extends string>(values: readonly T[]): { value: T; count: number }[] {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count).slice(0, MOST_OFFERED);
}

function put(terms: readonly Term[]): void {
  change({ select: formatSelection(terms) });
}
