// Changes that the backend has not answered yet. Pages show them at once, as pending; a refusal takes them back.

import { signal } from '@preact/signals';

import { ofPerson } from './person';

/** The pending changes of one kind of thing, by its id. `T` is what one request changes. */
export class PendingChanges<T extends object> {
  readonly #changes = signal<ReadonlyMap<string, readonly T[]>>(new Map());

  constructor() {
    ofPerson(() => (this.#changes.value = new Map()));
  }

  /** Returns the pending changes of a thing, oldest first. */
  of(id: string): readonly T[] {
    return this.#changes.value.get(id) ?? [];
  }

  /** Shows a change for as long as `sent` takes, however that ends. */
  async during<R>(id: string, change: T, sent: () => Promise<R>): Promise<R> {
    this.#put(id, [...(this.#changes.peek().get(id) ?? []), change]);
    try {
      return await sent();
    } finally {
      const left = (this.#changes.peek().get(id) ?? []).filter((one) => one !== change);
      this.#put(id, left);
    }
  }

  #put(id: string, changes: readonly T[]): void {
    const next = new Map(this.#changes.peek());
    if (changes.length > 0) next.set(id, changes);
    else next.delete(id);
    this.#changes.value = next;
  }
}
