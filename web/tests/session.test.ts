// The login of a browser, which its tabs share.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ask, GET, POST } from '../src/data/client';
import { check, csrf, farewell, logIn, logOut, open, resume, session } from '../src/data/session';
import { heard } from '../src/data/store';
import { follow } from '../src/data/stream';
import { resumeWith } from '../src/data/uploads';
import { backend, held, opened, PERSON, type Backend } from './backend';
import { model } from './fixtures';

const STORED = 'link.csrf';
const GONE: [number, unknown] = [401, { status: 401, code: 'unauthorized' }];

let served: Backend;
let other: BroadcastChannel;
let said: unknown[];

beforeEach(async () => {
  other?.close();
  localStorage.clear();
  history.replaceState(null, '', '/devices');
  served = backend({ '/session': opened('first'), '/me': [200, PERSON] });
  await logIn('a@example.com', 'x');
  other = new BroadcastChannel('link.session');
  said = [];
  other.onmessage = ({ data }) => void said.push(data);
});

/** Refuses the first request, as if another tab had logged in meanwhile, and answers the next ones. */
function anew(answer: () => [number, unknown]): () => [number, unknown] {
  let asked = 0;
  return () => {
    asked += 1;
    if (asked > 1) return answer();
    localStorage.setItem(STORED, 'second');
    return GONE;
  };
}

function secretsOf(path: string): (string | null)[] {
  return served.to(path).map(({ headers }) => headers.get('x-link-csrf'));
}

async function withoutStorage(work: () => Promise<void>): Promise<void> {
  const storage = localStorage;
  const forbidden = (): never => {
    throw new DOMException('forbidden', 'SecurityError');
  };
  vi.stubGlobal('localStorage', { getItem: forbidden, setItem: forbidden, removeItem: forbidden });
  await work();
  vi.stubGlobal('localStorage', storage);
}

describe('a login', () => {
  it('leaves nothing for scripts but the secret of the origin', () => {
    expect({ ...localStorage }).toEqual({ [STORED]: 'first' });
    expect({ ...sessionStorage }).toEqual({});
    expect(document.cookie).toBe('');
    expect(served.to('/session')[0]?.body).toEqual({ with: 'password', email: 'a@example.com', password: 'x' });
  });

  it('has its secret with every request, and no token', async () => {
    served.answers['/keys'] = [201, {}];
    await ask(GET('/api/v1/me'));
    await ask(POST('/api/v1/keys', { body: { kind: 'registration' } }));
    for (const { headers } of [...served.to('/me'), ...served.to('/keys')]) {
      expect(headers.get('x-link-csrf')).toBe('first');
      expect(headers.get('authorization')).toBeNull();
    }
  });

  it('has its secret with the event stream and with uploads', async () => {
    const stream = new AbortController();
    served.answers['/events'] = [403, { status: 403 }];
    await follow({ query: '', lastId: null, signal: stream.signal, heard: () => stream.abort() });
    served.answers['/models/mdl_a/content'] = ({ method }) => (method === 'HEAD' ? [200, null] : [403, { status: 403 }]);
    await resumeWith(model('a', { size_bytes: 1 }), new File(['1'], 'x.gguf'));
    await vi.waitFor(() => expect(served.to('/models/mdl_a/content')).toHaveLength(2));
    for (const path of ['/events', '/models/mdl_a/content']) expect(new Set(secretsOf(path)), path).toEqual(new Set(['first']));
  });

  it('is used although the storage refuses it and has the secret of an older one', async () => {
    const full = vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
      throw new DOMException('full', 'QuotaExceededError');
    });
    served.answers['/session'] = opened('newer');
    await logIn('a@example.com', 'x');
    full.mockRestore();
    expect([csrf(), localStorage.getItem(STORED)]).toEqual(['newer', null]);
    await check();
    expect([session.value, secretsOf('/me').at(-1)]).toEqual(['in', 'newer']);
  });

  it('comes from the one-time code of the address, which is removed first', async () => {
    history.replaceState(null, '', '/devices?q=x#code=loc_abc%2Fd');
    session.value = 'unknown';
    await resume();
    expect(session.value).toBe('in');
    expect(location.href).toMatch(/\/devices\?q=x$/);
    expect(served.to('/session').at(-1)?.body).toEqual({ with: 'code', code: 'loc_abc/d' });
  });

  it('is told to the other tabs', async () => {
    served.answers['/session'] = opened('next', { ...PERSON, user_id: 'other' });
    await open({ with: 'password', email: 'b@example.com', password: 'x' });
    await vi.waitFor(() => expect(said).toEqual([{ did: 'in', who: 'acc.other' }]));
  });
});

describe('a start', () => {
  it('takes up the login of the browser', async () => {
    session.value = 'unknown';
    await resume();
    expect(session.value).toBe('in');
    expect(served.to('/me')).toHaveLength(1);
  });

  it.each([401, 403])('forgets a login that is refused with %i', async (status) => {
    session.value = 'unknown';
    served.answers['/me'] = [status, { status }];
    const states: string[] = [];
    const unsubscribe = session.subscribe((state) => void states.push(state));
    await resume();
    unsubscribe();
    expect(states).toEqual(['unknown', 'out']);
    expect(localStorage.getItem(STORED)).toBeNull();
  });

  it('without a login asks nobody', async () => {
    localStorage.clear();
    await logOut();
    session.value = 'unknown';
    await resume();
    expect(session.value).toBe('out');
    expect(served.to('/me')).toHaveLength(0);
  });
});

describe('a logout', () => {
  it('ends the session at the backend, with the secret that it forgets, and tells the other tabs', async () => {
    await logOut();
    expect(session.value).toBe('out');
    expect(localStorage.getItem(STORED)).toBeNull();
    const last = served.to('/session').at(-1);
    expect([last?.method, last?.headers.get('x-link-csrf')]).toEqual(['DELETE', 'first']);
    await vi.waitFor(() => expect(said).toEqual([{ did: 'out' }]));
  });

  it('of another tab logs this one out', async () => {
    localStorage.clear();
    other.postMessage({ did: 'out' });
    await vi.waitFor(() => expect(session.value).toBe('out'));
    expect(csrf()).toBe('1');
  });

  it('is not told as a session that was taken away by an answer that was under way', async () => {
    const answer = held<[number, unknown]>();
    served.answers['/me'] = () => answer.promise;
    const asked = ask(GET('/api/v1/me'));
    await logOut();
    answer.keep(GONE);
    await expect(asked).rejects.toMatchObject({ status: 401 });
    expect(session.value).toBe('out');
  });
});

describe('another tab', () => {
  it('that logs in as somebody else makes this one begin anew', async () => {
    localStorage.setItem(STORED, 'theirs');
    served.answers['/me'] = [200, { ...PERSON, user_id: 'other' }];
    const states: string[] = [];
    const unsubscribe = session.subscribe((state) => void states.push(state));
    other.postMessage({ did: 'in', who: 'acc.other' });
    await vi.waitFor(() => expect(states).toEqual(['in', 'unknown', 'in']));
    unsubscribe();
    expect(served.to('/me').at(-1)?.headers.get('x-link-csrf')).toBe('theirs');
  });

  it('that logs in again as the same person disturbs nothing', async () => {
    other.postMessage({ did: 'in', who: 'acc.usr' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(served.to('/me')).toHaveLength(0);
    expect(session.value).toBe('in');
  });

  it('that has logged in anew makes a refused request count once more', async () => {
    const keys = { items: [] };
    served.answers['/keys'] = anew(() => [200, keys]);
    expect(await ask(GET('/api/v1/keys'))).toEqual(keys);
    expect(secretsOf('/keys')).toEqual(['first', 'second']);
    expect(session.value).toBe('in');
  });

  it('that has logged in as somebody else makes no request theirs', async () => {
    served.answers['/me'] = [200, { ...PERSON, user_id: 'other' }];
    served.answers['/keys'] = anew(() => [201, {}]);
    await expect(ask(POST('/api/v1/keys', { body: { kind: 'registration' } }))).rejects.toMatchObject({ status: 401 });
    expect(secretsOf('/keys')).toEqual(['first']);
    await vi.waitFor(() => expect(session.value).toBe('in'));
    await ask(GET('/api/v1/me'));
    expect(secretsOf('/me').at(-1)).toBe('second');
  });

  it('that has logged in a moment ago makes no request theirs', async () => {
    // Before the message about it arrives.
    localStorage.setItem(STORED, 'theirs');
    served.answers['/keys'] = [200, { items: [] }];
    await ask(GET('/api/v1/keys'));
    expect(secretsOf('/keys')).toEqual(['first']);
  });

  it.each(['acc.usr', 'acc.other'])('that logs in as %s leads to the login where the browser forbids the storage', async (name) => {
    const states: string[] = [];
    await withoutStorage(async () => {
      await logIn('a@example.com', 'x');
      const unsubscribe = session.subscribe((state) => void states.push(state));
      served.answers['/me'] = GONE;
      served.answers['/keys'] = GONE;
      other.postMessage({ did: 'in', who: name });
      await new Promise((resolve) => setTimeout(resolve, 20));
      if (name === 'acc.usr') await expect(ask(GET('/api/v1/keys'))).rejects.toMatchObject({ status: 401 });
      await vi.waitFor(() => expect(['out', 'ended']).toContain(session.value));
      await new Promise((resolve) => setTimeout(resolve, 50));
      unsubscribe();
    });
    expect(states).toEqual(name === 'acc.usr' ? ['in', 'ended'] : ['in', 'unknown', 'out']);
    expect([served.to('/keys').length, served.to('/me').length]).toEqual([name === 'acc.usr' ? 1 : 0, 0]);
  });

  it('whose stream has ended does not end a good login', async () => {
    heard({ type: 'ended', id: null });
    await vi.waitFor(() => expect(served.to('/me')).toHaveLength(1));
    await check();
    expect(session.value).toBe('in');
    served.answers['/me'] = GONE;
    heard({ type: 'ended', id: null });
    await vi.waitFor(() => expect(session.value).toBe('ended'));
  });
});

describe('a logout that the backend does not hear', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const ends = (): unknown[] => served.asked.filter(({ method }) => method === 'DELETE');

  it('is repeated until it is heard, also while its page is closed', async () => {
    let tries = 0;
    served.answers['/session'] = () => ((tries += 1) === 1 ? [503, { status: 503 }] : [204, null]);
    const sent = vi.spyOn(globalThis, 'fetch');
    const done = logOut();
    await vi.advanceTimersByTimeAsync(100);
    expect([session.value, farewell.value]).toEqual(['out', 'trying']);
    await vi.advanceTimersByTimeAsync(5_000);
    await done;
    expect([ends().length, farewell.value]).toEqual([2, 'told']);
    expect(sent.mock.calls.every(([, init]) => init?.keepalive === true)).toBe(true);
    expect(secretsOf('/session').slice(-2)).toEqual(['first', 'first']);
    sent.mockRestore();
  });

  it.each([401, 404])('needs no repetition if the session is gone: %i', async (status) => {
    served.answers['/session'] = [status, { status }];
    await logOut();
    expect([ends().length, farewell.value]).toEqual([1, 'told']);
  });

  it.each<[string, () => Promise<Response>]>([
    ['nobody answers', () => Promise.reject(new TypeError('no network'))],
    ['it has too much to do', () => Promise.resolve(new Response('{}', { status: 429, headers: { 'retry-after': '3' } }))],
  ])('is said after a minute: %s', async (_, answer) => {
    const fetched = vi.fn(answer);
    vi.stubGlobal('fetch', fetched);
    const done = logOut();
    await vi.advanceTimersByTimeAsync(61_000);
    await done;
    expect(farewell.value).toBe('failed');
    const tries = fetched.mock.calls.length;
    expect(tries).toBeGreaterThan(2);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(fetched).toHaveBeenCalledTimes(tries);
  });

  it('is no matter after the next login, which ends that session', async () => {
    served.answers['/session'] = ({ method }) => (method === 'DELETE' ? [503, { status: 503 }] : opened('next'));
    const done = logOut();
    await vi.advanceTimersByTimeAsync(100);
    await logIn('a@example.com', 'x');
    await vi.advanceTimersByTimeAsync(60_000);
    await done;
    expect([ends().length, farewell.value, session.value]).toEqual([1, 'told', 'in']);
  });
});

it('a session that ends while a page is open is said', async () => {
  served.answers['/me'] = GONE;
  await expect(ask(GET('/api/v1/me'))).rejects.toMatchObject({ status: 401 });
  expect(session.value).toBe('ended');
  expect(localStorage.getItem(STORED)).toBeNull();
});
