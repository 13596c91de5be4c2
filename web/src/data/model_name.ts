// What a model is called, and whether it can be had.

import type { Model } from './types';

/** Returns the name of a model, after its publisher if that is another account: two accounts may share models of one name. */
export function nameOf({ owned, publisher, name }: Pick<Model, 'owned' | 'publisher' | 'name'>): string {
  return owned || !publisher ? name : `${publisher}/${name}`;
}

/** Tells whether a model is there to be deployed, once its file is complete: one of another account only while it is shared. */
export function isOffered({ owned, shared }: Pick<Model, 'owned' | 'shared'>): boolean {
  return owned || shared;
}
