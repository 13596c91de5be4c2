// Who is logged in, while answers arrive late.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { logIn } from '../src/data/session';
import { me, start, stop } from '../src/data/store';
import { backend, held, opened } from './backend';

const person = (id: string): object => ({ user_id: `usr_${id}`, account_id: `acc_${id}`, email: `${id}@example.com`, role: 'owner' });

const channels = new Set<string>();

class Channel {
  onmessage = null;

  constructor(readonly name: string) {
    if (name.startsWith('link.events.')) channels.add(name);
  }

  postMessage(): void {}

  close(): void {
    channels.delete(this.name);
  }
}

beforeEach(async () => {
  vi.stubGlobal('BroadcastChannel', Channel);
  const locks = { request: () => Promise.resolve() };
  Object.defineProperty(navigator, 'locks', { value: locks, configurable: true });
  backend({ '/session': opened('s') });
  await logIn('a@example.com', 'x');
});
afterEach(() => {
  stop();
});

describe('a start', () => {
  it('has no effect after a logout', async () => {
    const answer = held<[number, unknown]>();
    backend({ '/me': () => answer.promise });
    const started = start();
    stop();
    answer.keep([200, person('one')]);
    await started;
    expect(me.value).toBeNull();
    expect([...channels]).toEqual([]);
  });

  it('gives way to a newer one', async () => {
    const answer = held<[number, unknown]>();
    let calls = 0;
    backend({ '/me': () => ((calls += 1) === 1 ? answer.promise : [200, person('two')]) });
    const first = start();
    await vi.waitFor(() => expect(calls).toBe(1));
    await start();
    answer.keep([200, person('one')]);
    await first;
    expect(me.value?.user_id).toBe('usr_two');
    expect([...channels]).toEqual(['link.events.acc_two.usr_two']);
  });
});
