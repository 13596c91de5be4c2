// Chips of which one is chosen, each with the number of things behind it, and a native list for longer choices.

import './choice.css';

import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

import { language, text } from '../text';
import { brief } from '../text/visible';
import { Prose } from './prose';

export interface Option {
  value: string;
  words: string;
  count?: number;
}

interface ChipsProps {
  label: string;
  options: readonly Option[];
  /** The chosen value, or `''` for all. A second press on a chip takes the filter away. */
  value: string;
  choose: (value: string) => void;
  /** Takes all filters of the list away. Its button is at the end of the chips, where it moves nothing. */
  clear?: (() => void) | false;
}

export function Chips({ label, options, value, choose, clear }: ChipsProps) {
  return (
    <div class="chip-row">
      <div class="chips" role="group" aria-label={label}>
        {options.map((option) => (
          <button
            key={option.value}
            type="button"
            class="button chip-button"
            aria-pressed={option.value === value}
            onClick={() => choose(option.value === value ? '' : option.value)}
          >
            {option.words}
            {option.count !== undefined && <span class="soft number">{option.count.toLocaleString(language)}</span>}
          </button>
        ))}
      </div>
      {clear && (
        <button type="button" class="button quiet" onClick={clear}>
          {text.list.clear}
        </button>
      )}
    </div>
  );
}

export function Select({ label, all, options, value, choose }: { label: string; all: string; options: readonly Option[]; value: string; choose: (value: string) => void }) {
  const known = value === '' || options.some((option) => option.value === value);
  return (
    <select class="filter-select" aria-label={label} value={value} onChange={(event) => choose(event.currentTarget.value)}>
      <option value="">{all}</option>
      {!known && <option value={value}>{brief(value, 80)}</option>}
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {brief(option.words, 80)}
        </option>
      ))}
    </select>
  );
}

/** The attributes that tie a control to its label, its hint and its fault. */
export interface Ties {
  id: string;
  'aria-describedby'?: string;
  'aria-invalid'?: true;
}

/** A labelled control of a form, with a hint, and with what is wrong with its value. `control` gets what ties them together. */
export function Field({ label, hint, fault = '', control }: { label: string; hint?: string; fault?: string; control: (ties: Ties) => ComponentChildren }) {
  const id = useId();
  const described = [fault && `${id}-fault`, hint && `${id}-hint`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {control({ id, ...(described ? { 'aria-describedby': described } : {}), ...(fault ? { 'aria-invalid': true as const } : {}) })}
      {fault && (
        <p class="form-error" id={`${id}-fault`} dir="auto">
          <Prose words={fault} />
        </p>
      )}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          <Prose words={hint} />
        </p>
      )}
    </div>
  );
}
