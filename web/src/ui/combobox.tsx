// One of many things, found by what is typed. The list opens on a click, on an arrow key and on typing; Enter takes what is marked,
// and Escape leaves everything as it was.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { text } from '../text';
import { Icon } from './icon';

import './combobox.css';

export interface Choosable {
  id: string;
  /** What it is called. */
  words: string;
  /** What finds it, in lower case. */
  found: string;
}

export interface ChooserProps {
  id: string;
  label: string;
  chosen: Choosable;
  options: readonly Choosable[];
  disabled: boolean;
  choose: (id: string) => void;
}

/** How many are listed: more are too many to read. */
const LISTED = 50;

export function Combobox({ id, label, chosen, options, disabled, choose }: ChooserProps) {
  const open = useSignal(false);
  /** What is being typed. Null while nothing is: the name of what is chosen stands there. */
  const typed = useSignal<string | null>(null);
  const marked = useSignal(chosen.id);
  const list = useRef<HTMLUListElement>(null);
  const found = open.value ? fitting(options, typed.value ?? '') : [];
  const listed = found.slice(0, LISTED);
  // Far down, it would open the list at its end.
  if (typed.value === null && open.value && !listed.includes(chosen)) listed.unshift(chosen);
  // What is marked may leave the list while it is open.
  const place = Math.max(0, listed.findIndex((one) => one.id === marked.value));
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView?.({ block: 'nearest' });
  }, [open.value, place]);
  const show = (): void => {
    if (open.peek() || disabled) return;
    open.value = true;
    marked.value = chosen.id;
  };
  const close = (): void => {
    open.value = false;
    typed.value = null;
  };
  const take = (one: Choosable | undefined): void => {
    close();
    if (one && one.id !== chosen.id) choose(one.id);
  };
  const pressed = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0 && (!open.peek() || (event.key !== 'Enter' && event.key !== 'Escape'))) return;
    event.preventDefault();
    if (event.key === 'Escape') close();
    else if (event.key === 'Enter') take(listed[place]);
    else if (!open.peek()) show();
    else marked.value = listed[(place + step + listed.length) % listed.length]?.id ?? '';
  };
  // What is chosen may be none of the options.
  const rest = found.filter((one) => !listed.includes(one)).length;
  return (
    <div class="combobox">
      <input
        id={id}
        type="text"
        role="combobox"
        aria-expanded={open.value}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={open.value && listed.length > 0 ? `${id}-${place}` : undefined}
        autocomplete="off"
        spellcheck={false}
        disabled={disabled}
        // A reload loses nothing: what is chosen is kept elsewhere.
        data-kept
        value={typed.value ?? chosen.words}
        onFocus={(event) => event.currentTarget.select()}
        onClick={show}
        onBlur={close}
        onKeyDown={pressed}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
          open.value = true;
          marked.value = '';
        }}
      />
      <Icon name="chevron" />
      <p class="visually-hidden" role="status">
        {open.value ? text.palette.results(found.length) : ''}
      </p>
      {/* A press in it takes the focus from the field otherwise, and that closes it. */}
      <div class="combobox-panel" hidden={!open.value} onPointerDown={(event) => event.preventDefault()} onMouseDown={(event) => event.preventDefault()}>
        {open.value && found.length === 0 && <p class="soft">{text.palette.none}</p>}
        <ul id={`${id}-list`} ref={list} role="listbox" aria-label={label}>
          {listed.map((one, index) => (
            <li key={one.id} id={`${id}-${index}`} role="option" aria-selected={index === place} onClick={() => take(one)}>
              <span dir="auto">{one.words}</span>
              {one.id === chosen.id && <Icon name="check" />}
            </li>
          ))}
        </ul>
        {rest > 0 && <p class="soft small">{text.palette.more(rest)}</p>}
      </div>
    </div>
  );
}

/** Returns what has every word that was typed. */
function fitting(options: readonly Choosable[], typed: string): readonly Choosable[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return words.length === 0 ? options : options.filter(({ found }) => words.every((word) => found.includes(word)));
}
