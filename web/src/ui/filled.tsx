// A sentence with parts that are more than text, such as a time or a name that stands apart. The language has the order.

import type { ComponentChildren } from 'preact';

/** Shows `words` with `parts` in the places of their names, as `{name}` has them. */
export function Filled({ words, parts }: { words: string; parts: Readonly<Record<string, ComponentChildren>> }) {
  return <>{words.split(/\{(\w+)\}/).map((piece, place) => (place % 2 === 1 ? parts[piece] : piece))}</>;
}
