// The field that finds the things of a list by words, which stand in the address.

import { Icon } from './icon';
import { change } from './router';

export function SearchField({ label, words }: { label: string; words: string }) {
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
      />
    </label>
  );
}
