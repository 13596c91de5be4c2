// One event stream for all tabs of a browser. The tab that holds a lock reads the stream and passes every message on over
// a channel; when that tab closes, the next one takes the lock and goes on from the last id that it has seen. Without locks
// or channels, as in a page that is not a secure context or may not store anything, each visible tab has its own stream.

import { follow, type Message } from './stream';
import { whileVisible } from './visible';

/** What the pages show to everybody. */
const QUERY = '?kinds=device,system,deployment,command,model,operation,summary';

export interface SharedStream {
  close: () => void;
}

type Said = { from: 'leader'; message: Message } | { from: 'leader'; live: boolean } | { from: 'new' };

/**
 * Follows the events of `scope`, which names the account and the user, since tabs may be logged in as different users.
 * `more` are the further kinds that the user may read.
 */
export function followShared(scope: string, heard: (message: Message) => void, more: readonly string[] = []): SharedStream {
  const query = [QUERY, ...more].join(',');
  const closing = new AbortController();
  const { signal } = closing;
  if (!('locks' in navigator) || typeof BroadcastChannel === 'undefined') {
    return alone(closing, query, heard);
  }
  const channel = new BroadcastChannel(`link.events.${scope}`);
  let lastId: string | null = null;
  let leads = false;
  let live = false;
  const take = (message: Message): void => {
    lastId = message.id ?? lastId;
    if (message.type !== 'change') live = message.type === 'ready' || message.type === 'reset';
    heard(message);
  };
  channel.onmessage = ({ data }: MessageEvent<Said>) => {
    if (data.from === 'new') {
      if (leads) channel.postMessage({ from: 'leader', live } satisfies Said);
    } else if (leads) {
      return;
    } else if ('message' in data) {
      take(data.message);
    } else if (data.live && !live) {
      // This tab is new: everything that it shows has yet to be loaded.
      take({ type: 'ready', id: null, resumed: false });
    }
  };
  channel.postMessage({ from: 'new' } satisfies Said);
  const lead = async (): Promise<void> => {
    leads = true;
    await follow({
      query,
      lastId,
      signal,
      heard: (message) => {
        take(message);
        channel.postMessage({ from: 'leader', message } satisfies Said);
      },
    });
    leads = false;
  };
  navigator.locks.request(`link.events.${scope}`, { signal }, lead).catch(() => {
    // A browser that forbids the page to store anything refuses locks too.
    if (!signal.aborted && !leads) alone(closing, query, heard);
  });
  return {
    close: () => {
      closing.abort();
      channel.close();
    },
  };
}

function alone(closing: AbortController, query: string, heard: (message: Message) => void): SharedStream {
  let lastId: string | null = null;
  const take = (message: Message): void => {
    lastId = message.id ?? lastId;
    heard(message);
  };
  whileVisible(closing.signal, (signal) => void follow({ query, lastId, signal, heard: take }));
  return { close: () => closing.abort() };
}
