// A list that is loaded when a page opens and kept true by the event stream until the last page that shows it closes.

import { signal } from '@preact/signals';

import { type Follower, followers } from './followers';
import { Rows } from './rows';
import { load, type Loading } from './store';

type Page<T> = (cursor: { cursor?: string }) => Promise<{ items: T[]; next_cursor?: string | null }>;

interface Options<T> {
  kind: string;
  idOf: (item: T) => string;
  page: Page<T>;
  /** Whether an item belongs to the list. Default: every item. */
  wanted?: (item: T) => boolean;
}

export class Kept<T extends object> {
  readonly rows: Rows<T>;
  readonly loading = signal<Loading>({ state: 'idle', error: null });
  readonly #options: Options<T>;
  #watchers = 0;

  constructor(options: Options<T>) {
    this.rows = new Rows(options.idOf);
    this.#options = options;
  }

  /** Begins to follow the list; what it returns ends that. */
  watch(): () => void {
    this.#watchers += 1;
    if (this.#watchers === 1) {
      followers.add(this.#follower);
      this.load();
    }
    return () => {
      this.#watchers -= 1;
      if (this.#watchers > 0) return;
      followers.delete(this.#follower);
      this.#clear();
    };
  }

  /** Loads the list anew. What is shown stays until its successor has arrived. */
  load(): void {
    void load(this.rows, this.loading, this.#options.page);
  }

  #clear(): void {
    this.rows.clear();
    this.loading.value = { state: 'idle', error: null };
  }

  readonly #follower: Follower = {
    changed: ({ kind, id, change, item }) => {
      if (kind !== this.#options.kind) return;
      const gone = change === 'removed' || item === null;
      const { wanted } = this.#options;
      if (!gone && (!wanted || wanted(item as T))) this.rows.changed(item as T);
      else if (id) this.rows.removed(id);
    },
    reload: () => this.load(),
    clear: () => this.#clear(),
  };
}
