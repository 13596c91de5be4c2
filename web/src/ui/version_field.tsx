// The version that an agent is updated to: the release of this backend, unless somebody types another one.

import { useEffect, useRef } from 'preact/hooks';

import { findInstaller } from '../data/install';
import { text } from '../text';
import { visible } from '../text/visible';
import { useLoaded } from './loaded';

interface Props {
  id: string;
  name: string;
  /** The version that the device runs, if it is one device. */
  runs?: string;
  /** Hears the version that stands in the field whenever it changes. */
  changed?: (version: string) => void;
}

export function VersionField({ id, name, runs, changed }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const release = useLoaded('release', findInstaller).value?.release?.version ?? null;
  // Not over what has been typed meanwhile.
  useEffect(() => {
    if (release === null || release === runs || !field.current || field.current.value !== '') return;
    field.current.value = release;
    changed?.(release);
    if (document.activeElement === field.current) field.current.select();
  }, [release]);
  return (
    <div class="field">
      <label for={id}>{text.bulk.version}</label>
      <input ref={field} id={id} name={name} required autofocus autocomplete="off" spellcheck={false} aria-describedby={`${id}-hint`} onInput={(event) => changed?.(event.currentTarget.value)} />
      <p class="hint" id={`${id}-hint`}>
        {hintOf(runs, release)}
      </p>
    </div>
  );
}

function hintOf(runs: string | undefined, release: string | null): string {
  if (release !== null && release === runs) return text.about.upToDate(visible(runs));
  const words = release === null ? text.bulk.versionHint : text.bulk.release(visible(release));
  return runs === undefined ? words : `${text.about.runs(visible(runs))} ${words}`;
}
