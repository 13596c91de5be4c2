// Conversations in this browser, in IndexedDB: one database for each user, bounded in number. If the browser refuses, the
// caller learns whether the storage is full or forbidden; nothing else fails.

import { MOST_KEPT, type Conversation } from './conversations';

const STORE = 'conversations';
const CHANGED = 'changed';

/** Why nothing is kept. */
export type Refusal = 'full' | 'forbidden';

export class StorageRefused extends Error {
  constructor(readonly reason: Refusal, cause: unknown) {
    super(reason, { cause });
  }
}

export class Storage {
  #database: Promise<IDBDatabase> | null = null;

  /** `user` is whose conversations these are: two people who share a browser do not read each other's. */
  constructor(readonly user: string) {}

  /** Returns all conversations, the newest first. */
  async all(): Promise<Conversation[]> {
    const found = await this.#run('readonly', (store) => store.getAll() as IDBRequest<Conversation[]>);
    return found.sort((a, b) => b.changed - a.changed);
  }

  /** Keeps a conversation, and lets the oldest go if there are too many. */
  async keep(conversation: Conversation): Promise<void> {
    await this.#run('readwrite', (store) => {
      const request = store.put(conversation);
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
      return request;
    });
  }

  async remove(id: string): Promise<void> {
    await this.#run('readwrite', (store) => store.delete(id));
  }

  async clear(): Promise<void> {
    await this.#run('readwrite', (store) => store.clear());
  }

  /** Closes the database as soon as what was begun has ended. */
  close(): void {
    this.#database?.then(
      (database) => database.close(),
      () => undefined,
    );
    this.#database = null;
  }

  async #run<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    try {
      this.#database ??= open(`link-workspace.${this.user}`);
      const database = await this.#database;
      return await new Promise<T>((resolve, reject) => {
        const transaction = database.transaction(STORE, mode);
        const request = work(transaction.objectStore(STORE));
        transaction.oncomplete = () => resolve(request.result);
        transaction.onabort = () => reject(transaction.error ?? request.error);
        transaction.onerror = () => reject(transaction.error ?? request.error);
      });
    } catch (error) {
      this.#database = null;
      const full = error instanceof DOMException && error.name === 'QuotaExceededError';
      throw new StorageRefused(full ? 'full' : 'forbidden', error);
    }
  }
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
