// What a model is for, in a word.

import type { Purpose } from '../data/purpose';
import { text } from '../text';

export function PurposeTag({ purpose }: { purpose: Purpose | null }) {
  if (!purpose) return null;
  const words = text.purposes.of[purpose];
  return (
    <span class="tag" title={text.purposes.what(words)}>
      {words}
    </span>
  );
}
