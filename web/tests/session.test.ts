// The login of a tab, while an exchange of its token is under way.

import { beforeEach, describe, expect, it, vi } from 'vitest';

import { accessToken, logIn, logOut, refresh, resume, session } from '../src/data/session';
import { backend, held, type Backend } from './backend';

const STORED = 'link.refresh-token';
const tokens = (name: string): object => ({ access_token: `a-${name}`, refresh_token: `r-${name}`, expires_in: 900 });

let served: Backend;
let exchange: ReturnType<typeof held<[number, unknown]>>;

beforeEach(async () => {
  exchange = held();
  served = backend({ '/auth/login': [200, tokens('login')], '/auth/refresh': () => exchange.promise });
  await logIn('a@example.com', 'x');
});

describe('a logout during an exchange', () => {
  it('wins, and revokes the token that arrives after it', async () => {
    const refused = expect(refresh()).rejects.toMatchObject({ status: 401 });
    await logOut();
    exchange.keep([200, tokens('late')]);
    await refused;
    expect(session.value).toBe('out');
    expect(sessionStorage.getItem(STORED)).toBeNull();
    expect(served.to('/auth/logout').map(({ body }) => body)).toEqual([
      { refresh_token: 'r-login' },
      { refresh_token: 'r-late' },
    ]);
  });

  it('does not disturb the next login', async () => {
    const refused = expect(refresh()).rejects.toMatchObject({ status: 401 });
    await logOut();
    await logIn('b@example.com', 'x');
    exchange.keep([401, { status: 401 }]);
    await refused;
    expect(session.value).toBe('in');
    expect(await accessToken()).toBe('a-login');
  });

  it('is not told as a session that was taken away', async () => {
    await logOut();
    await expect(accessToken()).rejects.toMatchObject({ status: 401 });
    expect(session.value).toBe('out');
  });
});

describe('a stored token', () => {
  it('that is refused while a page is open ends the session', async () => {
    exchange.keep([401, { status: 401 }]);
    await expect(refresh()).rejects.toMatchObject({ status: 401 });
    expect(session.value).toBe('ended');
  });

  it('that is refused at the start is forgotten', async () => {
    session.value = 'unknown';
    const states: string[] = [];
    const unsubscribe = session.subscribe((state) => void states.push(state));
    exchange.keep([401, { status: 401 }]);
    await resume();
    unsubscribe();
    expect(states).toEqual(['unknown', 'out']);
    expect(sessionStorage.getItem(STORED)).toBeNull();
    await vi.waitFor(() => expect(served.to('/auth/refresh')).toHaveLength(1));
  });
});
