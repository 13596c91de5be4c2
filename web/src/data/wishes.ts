// What a person has asked for and the backend has not answered yet. Pages show it at once, as pending; a refusal takes it back.

import { signal } from '@preact/signals';

import { ofPerson } from './person';

/** The wishes of one kind of thing, by its id. `T` is what one request changes. */
export class Wishes<T extends object> {
  readonly #asked = signal<ReadonlyMap<string, readonly T[]>>(new Map());

  constructor() {
    ofPerson(() => (this.#asked.value = new Map()));
  }

  /** Returns the wishes for a thing, oldest first. */
  of(id: string): readonly T[] {
    return this.#asked.value.get(id) ?? [];
  }

  /** Shows a wish for as long as `sent` takes, however that ends. */
  async during<R>(id: string, wish: T, sent: () => Promise<R>): Promise<R> {
    this.#put(id, [...(this.#asked.peek().get(id) ?? []), wish]);
    try {
      return await sent();
    } finally {
      const left = (this.#asked.peek().get(id) ?? []).filter((one) => one !== wish);
      this.#put(id, left);
    }
  }

  #put(id: string, wishes: readonly T[]): void {
    const next = new Map(this.#asked.peek());
    if (wishes.length > 0) next.set(id, wishes);
    else next.delete(id);
    this.#asked.value = next;
  }
}
