// Why a form was refused, spoken at once. The paragraph is there before it has words: a screen reader announces what changes in it.

import type { ReadonlySignal } from '@preact/signals';

import { Prose } from './prose';

export function FormError({ words, id }: { words: string | ReadonlySignal<string>; id?: string }) {
  return (
    <p {...(id === undefined ? {} : { id })} class="form-error" role="alert" dir="auto">
      <Prose words={typeof words === 'string' ? words : words.value} />
    </p>
  );
}
