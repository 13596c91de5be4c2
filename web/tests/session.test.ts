// The login of a browser, which its tabs share.

import { beforeEach, describe, expect, it, vi } from 'vitest';

import { ask, GET, POST } from '../src/data/client';
import { check, csrf, logIn, logOut, open, resume, session } from '../src/data/session';
import { heard } from '../src/data/store';
import { backend, held, opened, PERSON, type Backend } from './backend';

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
    let asked = 0;
    served.answers['/me'] = () => {
      asked += 1;
      if (asked > 1) return [200, PERSON];
      localStorage.setItem(STORED, 'second');
      return GONE;
    };
    expect(await ask(GET('/api/v1/me'))).toEqual(PERSON);
    expect(served.to('/me').map(({ headers }) => headers.get('x-link-csrf'))).toEqual(['first', 'second']);
    expect(session.value).toBe('in');
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

it('a session that ends while a page is open is said', async () => {
  served.answers['/me'] = GONE;
  await expect(ask(GET('/api/v1/me'))).rejects.toMatchObject({ status: 401 });
  expect(session.value).toBe('ended');
  expect(localStorage.getItem(STORED)).toBeNull();
});
