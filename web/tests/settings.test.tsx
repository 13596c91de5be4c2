// The page of settings: the allowlist, what it leaves stale, and two people who change it; sessions and password.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { deployments, reload } from '../src/data/store';
import { SettingsPage } from '../src/pages/settings/page';
import { Notices } from '../src/ui/notices';
import { go } from '../src/ui/router';
import { backend, type Backend } from './backend';
import { deployment } from './fixtures';
import { accessible, blank, buttons, press, says, show, type } from './page';

let root: HTMLElement;
let served: Backend;
let origins: string[];
let sessions: object[];

const SESSION = {
  session_id: 'ses_1', kind: 'browser', agent: 'Chromium 140 on Linux', address: '127.0.0.1', login: 'login.password', current: true,
  created_at: '2026-11-20T00:00:00Z', last_used_at: '2026-11-24T00:00:00Z', expires_at: '2026-12-20T00:00:00Z',
};
const OTHER = { ...SESSION, session_id: 'ses_2', current: false, kind: 'program', agent: 'link on <b>lab</b>' };

beforeEach(() => {
  origins = ['https://one.example'];
  sessions = [SESSION, OTHER];
  served = backend({
    '/settings/allowlist': ({ method, body }) => {
      if (method === 'PUT') origins = (body as { origins: string[] }).origins;
      return [200, { origins, defaults: ['https://backend.example'] }];
    },
    '/sessions': ({ method }) => {
      if (method !== 'DELETE') return [200, { items: sessions }];
      sessions = [SESSION];
      return [204, null];
    },
    '/me/password': [204, null],
  });
  root = blank('owner');
  go('/settings');
  show(root, <><SettingsPage /><Notices /></>);
});
afterEach(() => {
  show(root, null);
});

const written = (): unknown[] => served.to('/settings/allowlist').filter(({ method }) => method === 'PUT').map(({ body }) => body);

describe('the allowlist', () => {
  it('has the own origins and those of the backend apart, and adds one', async () => {
    expect(root.querySelector('.skeleton')).not.toBeNull();
    await says('https://one.example');
    expect(document.getElementById('default-origins')?.textContent).toBe('https://backend.example');
    await says('LocalNetworkAccessAllowedForUrls');
    await accessible();
    await type('Add an origin', ' https://two.example ');
    const add = await press('Add');
    add.click();
    await says('https://two.example was added.');
    expect(written()).toEqual([{ origins: ['https://one.example', 'https://two.example'] }]);
    await type('Add an origin', 'https://backend.example');
    await press('Add');
    await says('This origin is on the list already.');
    await accessible();
  });

  it.each([
    ['https://App.Example/', 'https://app.example'],
    ['http://localhost:3000/chat?x=1#y', 'http://localhost:3000'],
    ['https://app.example:443', 'https://app.example'],
    ['app.example', 'app.example'],
    ['chrome-extension://abc/', 'chrome-extension://abc/'],
  ])('takes the origin of an address that was copied: %s', async (given, origin) => {
    await says('https://one.example');
    await type('Add an origin', given);
    await press('Add');
    await says(`${origin} was added.`);
    expect(written()).toEqual([{ origins: ['https://one.example', origin] }]);
  });

  it('removes an origin after a question', async () => {
    await press('Remove https://one.example');
    await says('until each deployment is repaired');
    await accessible();
    await press('Remove the origin');
    await says('This account has no origin of its own.');
    expect(written()).toEqual([{ origins: [] }]);
    expect(root.querySelector('a[href="/deployments"]')).toBeNull();
  });

  it('says what follows for what was deployed with an origin that is removed, and how to refuse its pages', async () => {
    deployments.changed(deployment('1', 'dev_a'));
    await press('Remove https://one.example');
    await press('Remove the origin');
    await says('Until a deployment is repaired or redeployed, pages of https://one.example may still call its model.');
    expect(root.querySelector('[role=status] a[href="/deployments"]')?.textContent).toBe('Open the deployments');
    await accessible();
    await type('Add an origin', 'https://one.example');
    await press('Add');
    await vi.waitFor(() => expect(root.querySelector('a[href="/deployments"]')).toBeNull());
  });

  it('tells the second of two people and overwrites nothing', async () => {
    await vi.waitFor(() => expect(document.getElementById('own-origins')).not.toBeNull());
    origins = ['https://one.example', 'https://theirs.example'];
    await type('Add an origin', 'https://two.example');
    await press('Add');
    await says('Somebody else changed the list in the meantime.');
    await says('https://theirs.example');
    expect(written()).toEqual([]);
    await press('Add');
    await vi.waitFor(() => expect(written()).toEqual([{ origins: [...origins.slice(0, 2), 'https://two.example'] }]));
  });

  it('says what is stale and leads to the repair, and follows a reset of the stream', async () => {
    await says('https://one.example');
    expect(root.textContent).not.toContain('Every deployment');
    deployments.changed(deployment('1', 'dev_a'));
    await says('Every deployment has all of these origins.');
    deployments.changed(deployment('1', 'dev_a', { stale: true }));
    await says('1 deployment refuses pages of an allowed origin.');
    expect(root.querySelector('a[href="/deployments?state=stale"]')).not.toBeNull();
    await accessible();
    origins = ['https://reset.example'];
    void reload();
    await says('https://reset.example');
  });

  it('overwrites nothing that somebody else has written between the last look and the change', async () => {
    await says('https://one.example');
    const before = served.answers['/settings/allowlist'];
    served.answers['/settings/allowlist'] = async (asked) => {
      if (typeof before !== 'function') throw new Error('no answer');
      if (asked.method === 'PUT') {
        expect(asked.headers.get('if-match')).toBe('"v1"');
        origins = ['https://theirs.example'];
        return [412, { status: 412, detail: 'the allowlist was changed' }];
      }
      const [status, body] = await before(asked);
      return [status, body, { etag: '"v1"' }];
    };
    await type('Add an origin', 'https://mine.example');
    await press('Add');
    await says('nothing was overwritten');
    await says('https://theirs.example');
    await accessible();
  });

  it('shows the backend’s words about a wrong origin', async () => {
    await says('https://one.example');
    const before = served.answers['/settings/allowlist'];
    served.answers['/settings/allowlist'] = (asked) =>
      asked.method === 'PUT' || typeof before !== 'function' ? [422, { status: 422, detail: 'origins: `https://*.example` is no origin' }] : before(asked);
    await type('Add an origin', 'https://*.example');
    await press('Add');
    await says('is no origin.');
    await accessible();
  });

  it('has no control for a viewer', async () => {
    show(root, null);
    root = blank('viewer');
    show(root, <SettingsPage />);
    await says('https://one.example');
    await says('Your sessions');
    await says('link on <b>lab</b>');
    expect(buttons()).toEqual(['Copy the policy', 'End the session of link on <b>lab</b>', 'End all other sessions', 'Change the password']);
  });

  it('fails in the backend’s words and tries again', async () => {
    show(root, null);
    served.answers['/settings/allowlist'] = [500, { status: 500, detail: 'the database is gone' }];
    show(root, <SettingsPage />);
    await says('The database is gone.');
    await accessible();
    served.answers['/settings/allowlist'] = [200, { origins: ['https://back.example'] }];
    await press('Try again');
    await says('https://back.example');
    await says('The backend adds none.');
  });
});

describe('sessions and password', () => {
  it('are on the page: the other sessions are ended, after which only this one is left', async () => {
    await says('Chromium 140 on Linux');
    await says('link on <b>lab</b>');
    expect(root.querySelectorAll('#sessions li')).toHaveLength(2);
    await accessible();
    await press('End all other sessions');
    await says('All other sessions have ended.');
    await vi.waitFor(() => expect(root.querySelectorAll('#sessions li')).toHaveLength(1));
    expect(buttons()).not.toContain('End all other sessions');
    await accessible();
  });

  it('end one session by its id', async () => {
    served.answers['/sessions/ses_2'] = [204, null];
    await press('End the session of link on <b>lab</b>');
    await vi.waitFor(() => expect(served.to('/sessions/ses_2').map(({ method }) => method)).toEqual(['DELETE']));
  });

  it('change the password with the present one, typed twice', async () => {
    await type('Current password', 'old old old old');
    expect([...root.querySelectorAll('#password code')].map((code) => code.textContent)).toEqual(['link up', 'link account password']);
    await type('New password', 'new new new new');
    await type('New password again', 'new new new neu');
    await press('Change the password');
    await says('The two new passwords differ.');
    await accessible();
    expect(served.to('/me/password')).toEqual([]);
    await type('New password again', 'new new new new');
    await press('Change the password');
    await says('Your password was changed');
    expect(served.to('/me/password')[0]?.body).toEqual({ current_password: 'old old old old', new_password: 'new new new new' });
  });

  it('are loaded anew when somebody comes back, and stay if that fails', async () => {
    const asked = (): number => served.to('/sessions').filter(({ method }) => method === 'GET').length;
    const back = (): void => {
      dispatchEvent(new Event('blur'));
      dispatchEvent(new Event('focus'));
    };
    await vi.waitFor(() => expect(root.querySelectorAll('.sessions > li').length).toBeGreaterThan(1));
    const [before, rows] = [asked(), root.querySelectorAll('.sessions > li').length];
    served.answers['/sessions'] = [503, { status: 503, detail: 'the database is busy' }];
    back();
    await vi.waitFor(() => expect(asked()).toBeGreaterThan(before));
    expect(root.querySelectorAll('.sessions > li')).toHaveLength(rows);
    expect(root.textContent).not.toContain('Your sessions could not be loaded');
    served.answers['/sessions'] = [200, { items: [] }];
    back();
    await vi.waitFor(() => expect(root.querySelectorAll('.sessions > li')).toHaveLength(0));
  });

  it('leave the allowlist alone if they cannot be loaded', async () => {
    show(root, null);
    served.answers['/sessions'] = [503, { status: 503, detail: 'the database is busy' }];
    show(root, <SettingsPage />);
    await says('Your sessions could not be loaded');
    await says('https://one.example');
    await accessible();
  });
});
