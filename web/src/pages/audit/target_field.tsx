// The field for what entries are about: a name of those that are offered, or an id.

import { useSignal } from '@preact/signals';

import { text } from '../../text';
import { idOf, offeredFor, shownAs, type Names } from './targets';

interface Props {
  id: string;
  names: Names;
  choose: (id: string) => void;
}

export function TargetField({ id, names, choose }: Props) {
  /** What is being typed. Null while nobody types. */
  const typed = useSignal<string | null>(null);
  return (
    <div class="field">
      <label for="audit-subject">{text.audit.subject}</label>
      <input
        id="audit-subject"
        list="audit-subjects"
        placeholder={text.audit.subjectHint}
        autocomplete="off"
        spellcheck={false}
        value={typed.value ?? shownAs(id, names)}
        onInput={(event) => (typed.value = event.currentTarget.value)}
        onChange={(event) => {
          typed.value = null;
          choose(idOf(event.currentTarget.value, names));
        }}
      />
      <datalist id="audit-subjects">
        {offeredFor(typed.value ?? '', names).map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </div>
  );
}
