// Conversations in this browser, in IndexedDB: a database for each user, which all tabs share. It keeps a bounded number of
// conversations. What a tab keeps is joined with what another one has kept meanwhile, in one transaction. If the browser refuses,
// the caller learns whether the storage is full or forbidden; nothing else fails.

import { MOST_KEPT, type Conversation } from './conversations';
import { joined } from './joined';

const STORE = 'conversations';
const CHANGED = 'changed';

/** What a tab tells the others: the id of a conversation that it has kept, or of those that it has deleted. */
export type News = { kept: string } | { deleted: readonly string[] };

/** Why nothing is kept. */
export type Refusal = 'full' | 'forbidden';

export class StorageRefused extends Error {
  constructor(readonly reason: Refusal, cause: unknown) {
    super(reason, { cause });
  }
}

export class Storage {
  #database: Promise<IDBDatabase> | null = null;
  readonly #tabs: BroadcastChannel | null;

  /** `user` is whose conversations these are: two people who share a browser do not read each other's. `heard` is called with
   * what another tab has told. */
  constructor(readonly user: string, heard: (news: News) => void) {
    this.#tabs = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(nameOf(user));
    this.#tabs?.addEventListener('message', ({ data }: MessageEvent<News>) => heard(data));
  }

  /** Returns all conversations, the newest first. */
  async all(): Promise<Conversation[]> {
    const found = await this.#run('readonly', (store) => store.getAll() as IDBRequest<Conversation[]>);
    return found.sort((a, b) => b.changed - a.changed);
  }

  /** Returns a conversation, if it is there. */
  async one(id: string): Promise<Conversation | null> {
    return (await this.#run('readonly', (store) => store.get(id) as IDBRequest<Conversation | undefined>)) ?? null;
  }

  /** Keeps a conversation, and lets the oldest go if there are too many. Returns it with what another tab has added since `base`,
   * the state that this tab has seen last; the turns that this tab holds stay. */
  async keep(mine: Conversation, base: Conversation | null, held: ReadonlySet<string>): Promise<Conversation> {
    let next = mine;
    await this.#run('readwrite', (store) => {
      const found = store.get(mine.id) as IDBRequest<Conversation | undefined>;
      found.onsuccess = () => {
        if (found.result) next = joined(base, mine, found.result, held);
        store.put(next);
        makeRoom(store);
      };
      return found;
    });
    return next;
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.#run('readwrite', (store) => {
      for (const id of ids) store.delete(id);
      return store.count();
    });
  }

  /** Removes all conversations. Returns which there were. */
  async clear(): Promise<string[]> {
    return this.#run('readwrite', (store) => {
      const ids = store.getAllKeys() as IDBRequest<string[]>;
      store.clear();
      return ids;
    });
  }

  tell(news: News): void {
    this.#tabs?.postMessage(news);
  }

  /** Closes the database as soon as what was begun has ended. */
  close(): void {
    this.#tabs?.close();
    this.#leave();
  }

  #leave(): void {
    this.#database?.then(
      (database) => database.close(),
      () => undefined,
    );
    this.#database = null;
  }

  async #run<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    try {
      this.#database ??= open(nameOf(this.user));
      const database = await this.#database;
      return await new Promise<T>((resolve, reject) => {
        const transaction = database.transaction(STORE, mode);
        const request = work(transaction.objectStore(STORE));
        transaction.oncomplete = () => resolve(request.result);
        transaction.onabort = () => reject(transaction.error ?? request.error);
        transaction.onerror = ({ target }) => reject(transaction.error ?? (target instanceof IDBRequest ? target.error : null));
      });
    } catch (error) {
      // It may have been closed by the browser: the next one opens it anew.
      this.#leave();
      const full = error instanceof DOMException && error.name === 'QuotaExceededError';
      throw new StorageRefused(full ? 'full' : 'forbidden', error);
    }
  }
}

function nameOf(user: string): string {
  return `link-workspace.${user}`;
}

/** Deletes the oldest conversations of those that are too many. */
function makeRoom(store: IDBObjectStore): void {
  const counted = store.count();
  counted.onsuccess = () => {
    let spare = counted.result - MOST_KEPT;
    if (spare <= 0) return;
    const cursor = store.index(CHANGED).openCursor();
    cursor.onsuccess = () => {
      if (!cursor.result || spare <= 0) return;
      spare -= 1;
      cursor.result.delete();
      cursor.result.continue();
    };
  };
}

function open(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(STORE, { keyPath: 'id' }).createIndex(CHANGED, CHANGED);
    };
    request.onsuccess = () => {
      const database = request.result;
      // Another tab that has a newer form of the database is not held up.
      database.onversionchange = () => database.close();
      resolve(database);
    };
    request.onerror = () => reject(request.error ?? new Error('the database cannot be opened'));
  });
}
