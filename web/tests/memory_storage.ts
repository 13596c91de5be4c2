// The storage of a browser, in memory, for all tabs that are opened on it: what a tab keeps is copied and joined, as the database of
// a browser does it, and told to the others.

import type { Conversation } from '../src/workspace/conversations';
import { joined } from '../src/workspace/joined';
import type { News } from '../src/workspace/storage';

/** What a browser has, and who hears of it. */
export class Memory {
  readonly kept = new Map<string, Conversation>();
  readonly tabs = new Set<MemoryStorage>();
  /** Throws if the browser refuses to keep or to remove something. */
  refuse: (what: 'keep' | 'remove') => void = () => undefined;
  /** Waits as long as the database takes. */
  wait: () => Promise<void> = async () => undefined;
  /** Hands news to a tab. */
  deliver: (work: () => void) => void = (work) => work();
}

class MemoryStorage {
  closed = false;

  constructor(
    readonly memory: Memory,
    readonly user: string,
    readonly heard: (news: News) => void,
  ) {
    memory.tabs.add(this);
  }

  async all(): Promise<Conversation[]> {
    const all = [...this.memory.kept.values()].map((one) => structuredClone(one));
    await this.memory.wait();
    return all;
  }

  async one(id: string): Promise<Conversation | null> {
    await this.memory.wait();
    return structuredClone(this.memory.kept.get(id) ?? null);
  }

  async keep(mine: Conversation, base: Conversation | null, held: ReadonlySet<string>): Promise<Conversation> {
    await this.memory.wait();
    this.memory.refuse('keep');
    const theirs = this.memory.kept.get(mine.id);
    const next = theirs ? joined(base, mine, structuredClone(theirs), held) : mine;
    this.memory.kept.set(mine.id, structuredClone(next));
    await this.memory.wait();
    return next;
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.memory.wait();
    this.memory.refuse('remove');
    for (const id of ids) this.memory.kept.delete(id);
  }

  async clear(): Promise<string[]> {
    await this.memory.wait();
    const ids = [...this.memory.kept.keys()];
    this.memory.kept.clear();
    return ids;
  }

  tell(news: News): void {
    for (const tab of this.memory.tabs) {
      if (tab !== this && tab.user === this.user) this.memory.deliver(() => tab.closed || tab.heard(news));
    }
  }

  close(): void {
    this.closed = true;
    this.memory.tabs.delete(this);
  }
}

/** Returns a class that takes the place of `Storage`, on the memory of each user. */
export function storageOf(memoryOf: (user: string) => Memory) {
  return class extends MemoryStorage {
    constructor(user: string, heard: (news: News) => void) {
      super(memoryOf(user), user, heard);
    }
  };
}
