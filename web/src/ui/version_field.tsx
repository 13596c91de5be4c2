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
  changed?: () => void;
}

export function VersionField({ id, name, runs, changed }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const release = useLoaded('release', findInstaller).value?.release?.version ?? null;
  // Not over what has been typed meanwhile.
  useEffect(() => {
    if (release === null || release === runs || !field.current || field.current.value !== '') return;
    field.current.value = release;
    if (document.activeElement === field.current) field.current.select();
  }, [release]);
  return (
    <div class="field">
      <label for={id}>{text.bulk.version}</label>
      <input ref={field} id={id} name={name} required autofocus autocomplete="off" spellcheck={false} aria-describedby={`${id}-hint`} onInput={changed} />
      <p class="hint" id={`${id}-hint`}>
        {runs !== undefined && `${text.about.runs(visible(runs))} `}
        {release === null ? text.bulk.versionHint : release === runs ? text.bulk.isRelease : text.bulk.release(visible(release))}
      </p>
    </div>
  );
}
