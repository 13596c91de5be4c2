// What a model is called.

import type { Model } from './types';

/** Returns the name of a model, after its publisher if that is another account: two accounts may share models of one name. */
export function nameOf({ owned, publisher, name }: Pick<Model, 'owned' | 'publisher' | 'name'>): string {
  return owned || !publisher ? name : `${publisher}/${name}`;
}
