// The field that finds the things of a list by words, which stand in the address.

import { Icon } from './icon';
import { change } from './router';

interface Props {
  label: string;
  words: string;
  /** Called when a key is pressed in the field. */
  pressed?: (event: KeyboardEvent) => void;
}

export function SearchField({ label, words, pressed }: Props) {
  return (
    <label class="search">
      <Icon name="search" />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        spellcheck={false}
        autocomplete="off"
        value={words}
        onInput={(event) => change({ q: event.currentTarget.value }, { replace: true })}
        onKeyDown={pressed}
      />
    </label>
  );
}
