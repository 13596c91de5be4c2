// Why a form was refused, spoken at once and scrolled into sight: in a small window it stands below what a dialog shows. The paragraph
// is there before it has words: a screen reader announces what changes in it.

import type { ReadonlySignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { Prose } from './prose';

export function FormError({ words, id }: { words: string | ReadonlySignal<string>; id?: string }) {
  const line = useRef<HTMLParagraphElement>(null);
  const shown = typeof words === 'string' ? words : words.value;
  useEffect(() => {
    if (shown !== '') line.current?.scrollIntoView?.({ block: 'nearest' });
  }, [shown]);
  return (
    <p ref={line} {...(id === undefined ? {} : { id })} class="form-error" role="alert" dir="auto">
      <Prose words={shown} />
    </p>
  );
}
