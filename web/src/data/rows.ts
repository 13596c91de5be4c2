// Things of one kind by id: one signal for each row, so that a change redraws one row. A list that is loaded while events
// arrive never overwrites what an event has said in the meantime.

import { batch, signal, type ReadonlySignal, type Signal } from '@preact/signals';

/** The shortest time between two values of `revision`, in milliseconds. */
const REVISION_GAP = 400;
/** The same while a list is loaded: to put thousands of rows in order takes the time of several pages of them. */
const LOADING_GAP = 1_000;

export class Rows<T extends object> {
  readonly #rows = new Map<string, Signal<T>>();
  readonly #idOf: (item: T) => string;
  readonly #revision = signal(0);
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** The number of the newest load. Pages of an older load are dropped. */
  #load = 0;
  /** What events have said since the present load began: everything, that it is gone, or some fields. */
  #said: Map<string, 'all' | 'removed' | Set<keyof T>> | null = null;
  /** The ids that the present load has brought. */
  #seen = new Set<string>();
  /** Fields of things that the present load has yet to bring. */
  readonly #pending = new Map<string, Partial<T>>();
  /** Fields whose values tell that a thing of the present load is gone. */
  readonly #gone = new Map<keyof T, Set<unknown>>();

  constructor(idOf: (item: T) => string) {
    this.#idOf = idOf;
  }

  /** Grows a moment after any row has changed, come or gone, and at once when a load ends: lists, filters and counts depend
   * on it. */
  get revision(): ReadonlySignal<number> {
    return this.#revision;
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Returns the row of an id, if there is one. */
  row(id: string): ReadonlySignal<T> | undefined {
    return this.#rows.get(id);
  }

  /** Returns the rows in the order in which they came. */
  all(): T[] {
    return Array.from(this.#rows.values(), (row) => row.peek());
  }

  /** Begins a load and returns its number. What events say from here on wins over the pages of the load. */
  beginLoad(): number {
    this.#said = new Map();
    this.#seen = new Set();
    this.#pending.clear();
    this.#gone.clear();
    this.#load += 1;
    return this.#load;
  }

  /** Tells whether no newer load has begun, and nothing was forgotten. */
  isNewest(load: number): boolean {
    return load === this.#load;
  }

  /** Takes a page of a load. */
  loaded(items: readonly T[], load = this.#load): void {
    if (!this.isNewest(load)) return;
    const first = this.#rows.size === 0;
    batch(() => {
      for (const item of items) {
        const id = this.#idOf(item);
        this.#seen.add(id);
        const said = this.#said?.get(id);
        if (said === 'all' || said === 'removed' || this.#isGone(item)) continue;
        this.#write(id, said ? { ...item, ...this.#kept(id, said) } : item);
      }
      this.#touch(first);
    });
  }

  /** Ends a load: rows that neither the load nor an event has named are gone. */
  endLoad(load = this.#load): void {
    if (!this.isNewest(load)) return;
    for (const id of this.#rows.keys()) {
      if (!this.#seen.has(id) && !this.#said?.has(id)) this.#rows.delete(id);
    }
    this.dropLoad(load);
    // Whoever sees that the load has ended sees its rows too.
    this.#show();
  }

  /** Ends a load that has failed: the rows stay, and what events have said in the meantime need not be remembered. */
  dropLoad(load: number): void {
    if (!this.isNewest(load)) return;
    this.#said = null;
    this.#pending.clear();
    this.#gone.clear();
  }

  /** Takes the newest state of one thing. */
  changed(item: T): void {
    const id = this.#idOf(item);
    this.#said?.set(id, 'all');
    this.#write(id, item);
    this.#touch();
  }

  /** Takes a part of one thing. A thing that is not known yet arrives with the load. */
  patched(id: string, part: Partial<T>): void {
    const said = this.#said?.get(id);
    if (this.#said && said !== 'all' && said !== 'removed') {
      const fields = said ?? new Set<keyof T>();
      for (const field of Object.keys(part) as (keyof T)[]) fields.add(field);
      this.#said.set(id, fields);
      if (!this.#rows.has(id)) this.#pending.set(id, { ...this.#pending.get(id), ...part });
    }
    const row = this.#rows.get(id);
    if (!row) return;
    row.value = { ...row.peek(), ...part };
    this.#touch();
  }

  removed(id: string): void {
    this.#said?.set(id, 'removed');
    if (this.#rows.delete(id)) this.#touch();
  }

  /** Removes every row with this value, as the deployments of a device that is removed. The present load does not bring these rows
   * back: its pages may have been read before the removal. */
  removedWith<K extends keyof T>(field: K, value: T[K]): void {
    if (this.#said) this.#gone.set(field, (this.#gone.get(field) ?? new Set()).add(value));
    for (const item of this.all()) if (item[field] === value) this.removed(this.#idOf(item));
  }

  /** Forgets everything, as after a logout. */
  clear(): void {
    this.#rows.clear();
    this.#said = null;
    this.#pending.clear();
    this.#gone.clear();
    this.#load += 1;
    this.#show();
  }

  #isGone(item: T): boolean {
    for (const [field, values] of this.#gone) if (values.has(item[field])) return true;
    return false;
  }

  #kept(id: string, fields: Set<keyof T>): Partial<T> {
    const row = this.#rows.get(id)?.peek();
    const source: Partial<T> = row ?? this.#pending.get(id) ?? {};
    this.#pending.delete(id);
    return Object.fromEntries(
      [...fields].filter((field) => field in source).map((field) => [field, source[field]]),
    ) as Partial<T>;
  }

  #write(id: string, item: T): void {
    const row = this.#rows.get(id);
    if (row) row.value = item;
    else this.#rows.set(id, signal(item));
  }

  /** Shows what has changed, a moment later. The first rows of a list are shown at once. */
  #touch(first = false): void {
    if (first && this.#timer !== null) clearTimeout(this.#timer);
    if (first) this.#timer = null;
    const gap = first || this.#revision.peek() === 0 ? 0 : this.#said ? LOADING_GAP : REVISION_GAP;
    this.#timer ??= setTimeout(() => this.#show(), gap);
  }

  #show(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#revision.value += 1;
  }
}
