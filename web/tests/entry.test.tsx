// The pages that let people and machines in, and the part of the settings about sessions.

import axe from 'axe-core';
import { render } from 'preact';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { App } from '../src/app/app';
import { farewell, resume, session } from '../src/data/session';
import { me } from '../src/data/store';
import { MachinePage } from '../src/pages/entry/machine';
import { Security } from '../src/pages/settings/security';
import { text } from '../src/text';
import { isPlainHttp, PlainHttp, safeNext } from '../src/ui/entry_form';
import { go } from '../src/ui/router';
import { backend, opened, PERSON, type Backend } from './backend';
import { HOSTILE } from './fixtures';

const PENDING = {
  user_code: 'WDJB-MJHT', client_name: 'link on <b>box</b>', address: '192.0.2.7',
  created_at: '2026-11-20T00:00:00Z', expires_at: '2026-11-20T00:10:00Z',
};
const SESSION = {
  session_id: 'ses_1', account_id: 'acc', kind: 'browser', login: 'login.password', agent: 'Chromium 140 on Linux',
  address: '192.0.2.1', created_at: '2026-11-20T00:00:00Z', last_used_at: '2026-11-20T00:00:00Z',
  expires_at: '2026-11-27T00:00:00Z', current: true,
};

let root: HTMLElement;
let served: Backend;

beforeEach(() => {
  localStorage.clear();
  document.body.innerHTML = '<div id="root"></div>';
  root = document.getElementById('root') as HTMLElement;
  served = backend({ '/session': opened('s'), '/me': [200, PERSON] });
  session.value = 'out';
  me.value = { ...PERSON, role: 'owner' } as never;
});
afterEach(() => {
  render(null, root);
  vi.useRealTimers();
});

const settled = (words: string): Promise<void> =>
  vi.waitFor(() => expect(document.body.textContent).toContain(words), { timeout: 3_000 });

async function accessible(): Promise<void> {
  const rules = { 'color-contrast': { enabled: false }, region: { enabled: false } };
  const { violations } = await axe.run(document.body, { rules });
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join('\n')}`)).toEqual([]);
}

const alertsOf = (): string[] => [...root.querySelectorAll('[role=alert]')].map(({ textContent }) => textContent ?? '');

function fill(values: Record<string, string>): void {
  for (const [name, value] of Object.entries(values)) {
    const field = root.querySelector<HTMLInputElement>(`[name="${name}"]`);
    if (!field) throw new Error(`no field ${name}`);
    field.value = value;
  }
  root.querySelector('form')?.dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true }));
}

const button = (label: string): HTMLButtonElement | undefined =>
  [...root.querySelectorAll('button')].find(({ textContent, ariaLabel }) => (ariaLabel ?? textContent) === label);

describe('the address after a login', () => {
  it('leads on only within this origin', () => {
    for (const wanted of ['/devices?q=a#b', '/workspace', '/devices/dev_a?tab=logs']) expect(safeNext(wanted)).toBe(wanted);
    for (const wanted of [
      '/.//evil.example/x', '/..//evil.example', '/a/..//evil.example/x', '/%2e//evil.example', '/%2E%2e//evil.example', '/./\\evil.example',
      '/.\\/evil.example', '/\t.//evil.example', '/.//evil.example/login', '/login/', '/login/?next=/login',
      null, '', 'https://evil.example/', '//evil.example', '/\\evil.example', '\\\\evil.example', 'javascript:alert(1)',
      '/\t/evil.example', '/login?next=/login', 'data:text/html,x', '///evil.example', ' /devices',
    ]) expect(safeNext(wanted), String(wanted)).toBe('/');
  });

  it('does not leave this origin, whoever asks the router', () => {
    go('/devices?q=here');
    const [here, assign] = [location, vi.fn()];
    vi.stubGlobal('location', { origin: here.origin, href: here.href, pathname: here.pathname, assign });
    for (const wanted of ['//evil.example/x', 'https://evil.example/devices', '/\\evil.example', 'javascript:alert(1)']) go(wanted);
    expect(assign).not.toHaveBeenCalled();
    go('/workspace');
    expect(assign).toHaveBeenCalledOnce();
    vi.stubGlobal('location', here);
  });

  it('is the one that was asked for', async () => {
    go('/login?next=/devices%3Fq%3Dlab');
    render(<App />, root);
    await settled('Log in');
    await accessible();
    fill({ email: 'a@example.com', password: 'x' });
    await vi.waitFor(() => expect(location.pathname + location.search).toBe('/devices?q=lab'));
  });
});

describe('an address of link open', () => {
  it('whose code was used is said by an alert, with what to do', async () => {
    session.value = 'unknown';
    history.replaceState(null, '', '/devices#code=loc_used');
    go('/devices#code=loc_used');
    served.answers['/session'] = [401, {
      status: 401, code: 'one-time-code-invalid', detail: 'the one-time code is unknown, was used, or has expired',
      hint: 'run `link open` again; a code is valid once, for 30 seconds',
    }];
    render(<App />, root);
    const alerts: string[] = [];
    new MutationObserver(() => alerts.push(...alertsOf())).observe(root, { subtree: true, childList: true, characterData: true });
    await resume();
    const words = 'The one-time code is unknown, was used, or has expired. Run link open again; a code is valid once, for 30 seconds.';
    await vi.waitFor(() => expect(alertsOf()).toEqual([words]));
    // The element was there before its words, so that a screen reader hears them come.
    expect(alerts[0]).toBe('');
    expect(document.body.textContent?.split('one-time code')).toHaveLength(2);
    await accessible();
    served.answers['/session'] = opened('s');
    fill({ email: 'a@example.com', password: 'x' });
    await vi.waitFor(() => expect(session.value).toBe('in'));
  });
});

describe('a logout that the backend does not hear', () => {
  it('is said at the login, with what to do', async () => {
    go('/login');
    render(<App />, root);
    farewell.value = 'trying';
    await settled('Leave this page open');
    farewell.value = 'failed';
    await settled('An unused session ends after a week.');
    expect(alertsOf()[0]).toContain('log in here and log out once more');
    await accessible();
    farewell.value = 'told';
    await vi.waitFor(() => expect(alertsOf()).toEqual(['']));
  });
});

describe('a login that has to wait', () => {
  it('says for how long, and lets nobody try before', async () => {
    go('/login');
    served.answers['/session'] = [429, { status: 429, detail: 'too many attempts; wait 2 seconds' }, { 'retry-after': '2' }];
    render(<App />, root);
    await settled('Log in');
    vi.useFakeTimers();
    fill({ email: 'a@example.com', password: 'x' });
    await vi.waitFor(() => expect(root.textContent).toContain('Wait 2 seconds'));
    fill({ email: 'a@example.com', password: 'x' });
    expect(served.to('/session')).toHaveLength(1);
    // It is said once to the eye, and once to a screen reader.
    expect([...root.querySelectorAll('.form-error')].map((one) => one.textContent)).toEqual(['Too many attempts. Wait 2 seconds, then try again.']);
    expect(alertsOf()).toEqual(['Too many attempts. Wait 2 seconds, then try again.']);
    await vi.advanceTimersByTimeAsync(1_100);
    expect(root.textContent).toContain('Wait 1 second,');
    await vi.advanceTimersByTimeAsync(1_500);
    expect(root.textContent).toContain('You can try again.');
    expect(text.entry.wait(61)).toBe('Too many attempts. Wait 2 minutes, then try again.');
    expect(text.entry.wait(900)).toBe('Too many attempts. Wait 15 minutes, then try again.');
    expect(button('Log in')?.disabled).toBe(false);
  });
});

describe('plain http on the network', () => {
  it('is told before anybody types a password', async () => {
    for (const hostname of ['192.168.0.7', 'box.lan', '127.0.0.1.evil.example', 'localhost.evil.example']) {
      expect(isPlainHttp({ protocol: 'http:', hostname }), hostname).toBe(true);
      expect(isPlainHttp({ protocol: 'https:', hostname }), hostname).toBe(false);
    }
    for (const hostname of ['localhost', '127.0.0.1', '127.1.2.3', '[::1]']) {
      expect(isPlainHttp({ protocol: 'http:', hostname }), hostname).toBe(false);
    }
    render(<PlainHttp />, root);
    expect(root.textContent).toContain('ssh -L');
    expect(root.querySelector('input')).toBeNull();
    await accessible();
  });
});

describe('the first account', () => {
  it('takes the token out of the address', async () => {
    history.replaceState(null, '', '/setup#lst_abc');
    go('/setup#lst_abc');
    render(<App />, root);
    await settled('Set up the first account');
    expect(root.querySelector<HTMLInputElement>('#setup-token')?.value).toBe('lst_abc');
    expect(location.hash).toBe('');
    await accessible();
    // Another address of the same page is opened in this tab: browsers load nothing anew.
    history.replaceState(null, '', '/setup#lst_another');
    dispatchEvent(new HashChangeEvent('hashchange'));
    await vi.waitFor(() => expect(root.querySelector<HTMLInputElement>('#setup-token')?.value).toBe('lst_another'));
    expect(location.hash).toBe('');
    fill({ email: 'a@example.com', password: 'correct horse' });
    const body = { with: 'setup', setup_token: 'lst_another', email: 'a@example.com', password: 'correct horse' };
    await vi.waitFor(() => expect(served.to('/session')[0]?.body).toEqual(body));
  });
});

describe('an invitation', () => {
  it('makes a new person of somebody who is not logged in', async () => {
    go('/invite');
    render(<App />, root);
    await settled('Accept an invitation');
    await accessible();
    fill({ invitation: 'lit_x', email: 'b@example.com', password: 'correct horse' });
    const body = { with: 'invitation', invitation_token: 'lit_x', email: 'b@example.com', password: 'correct horse' };
    await vi.waitFor(() => expect(served.to('/session')[0]?.body).toEqual(body));
  });

  it('is accepted by who is logged in', async () => {
    session.value = 'in';
    go('/invite');
    render(<App />, root);
    await settled('You join as');
    await accessible();
    fill({ invitation: 'lit_x' });
    const body = { with: 'invitation', invitation_token: 'lit_x' };
    await vi.waitFor(() => expect(served.to('/session')[0]?.body).toEqual(body));
  });
});

describe('a machine', () => {
  async function asked(pending: object = PENDING): Promise<void> {
    served.answers['/auth/device/inquire'] = [200, pending];
    served.answers['/auth/device/decide'] = [204, null];
    render(<MachinePage />, root);
    await settled('Approve a login');
    fill({ 'user-code': 'wdjb mjht' });
    await settled('Is this your machine?');
  }

  it('is described, and Enter alone allows it nothing', async () => {
    await asked();
    for (const part of ['link on <b>box</b>', '192.0.2.7', 'WDJB-MJHT', PERSON.email]) {
      expect(root.textContent).toContain(part);
    }
    expect(root.querySelector('b')).toBeNull();
    await vi.waitFor(() => expect(document.activeElement?.tagName).toBe('H1'));
    await accessible();
    button('Allow')?.click();
    await settled('The machine is logged in');
    await vi.waitFor(() => expect(document.activeElement?.tagName).toBe('H1'));
    expect(served.to('/auth/device/decide')[0]?.body).toEqual({ user_code: 'WDJB-MJHT', allow: true });
    await accessible();
  });

  it('is refused', async () => {
    await asked();
    button('Refuse')?.click();
    await settled('The machine was refused');
    expect(served.to('/auth/device/decide')[0]?.body).toEqual({ user_code: 'WDJB-MJHT', allow: false });
  });

  it.each(HOSTILE)('cannot imitate anything by its name: %j', async (client_name) => {
    await asked({ ...PENDING, client_name });
    expect(root.querySelectorAll('button')).toHaveLength(2);
    expect(root.querySelector('img[src="x"]')).toBeNull();
    expect(root.textContent).not.toMatch(/[\u0000\u200b\u202e]/);
  });

  it('whose code nobody waits for is said, with the focus kept', async () => {
    served.answers['/auth/device/inquire'] = [404, { status: 404, detail: 'no login waits for this code', code: 'user-code-unknown' }];
    render(<MachinePage />, root);
    await settled('Approve a login');
    fill({ 'user-code': 'x' });
    await settled('No login waits for this code.');
    await accessible();
  });
});

describe('sessions', () => {
  it('are listed with their place and ended one by one or together', async () => {
    const other = { ...SESSION, session_id: 'ses_2', current: false, agent: '', kind: 'program', login: 'login.device', address: null };
    served.answers['/sessions'] = ({ method }) => (method === 'DELETE' ? [204, null] : [200, { items: [SESSION, other] }]);
    served.answers['/sessions/ses_2'] = [204, null];
    render(<Security />, root);
    await settled('Chromium 140 on Linux');
    await accessible();
    expect(root.textContent).toContain('This browser');
    expect(root.textContent).toContain('an unknown address');
    button('End the session of Program')?.click();
    await vi.waitFor(() => expect(served.to('/sessions/ses_2').map(({ method }) => method)).toEqual(['DELETE']));
    await vi.waitFor(() => expect(document.activeElement?.id).toBe('sessions-title'));
    button('End all other sessions')?.click();
    await vi.waitFor(() => expect(served.to('/sessions').some(({ method }) => method === 'DELETE')).toBe(true));
  });

  it('that cannot be loaded are said', async () => {
    served.answers['/sessions'] = [503, { status: 503, detail: 'the database is busy' }];
    render(<Security />, root);
    await settled('Your sessions could not be loaded');
    await accessible();
  });

  it('end with a new password, which is typed twice', async () => {
    served.answers['/sessions'] = [200, { items: [SESSION] }];
    served.answers['/me/password'] = [204, null];
    render(<Security />, root);
    await settled('Change your password');
    const typed = { 'current-password': 'old old old old', 'new-password': 'new new new new' };
    fill({ ...typed, 'new-password-again': 'new new new neu' });
    await settled('The two new passwords differ.');
    expect(served.to('/me/password')).toHaveLength(0);
    fill({ ...typed, 'new-password-again': 'new new new new' });
    const body = { current_password: 'old old old old', new_password: 'new new new new' };
    await vi.waitFor(() => expect(served.to('/me/password')[0]?.body).toEqual(body));
    await vi.waitFor(() => expect(root.querySelector<HTMLInputElement>('#new-password')?.value).toBe(''));
  });
});
