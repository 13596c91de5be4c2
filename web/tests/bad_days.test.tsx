// Days on which something between the pages and the backend is wrong: what is shown is true, says what to do, and mends
// itself where it can.

import { describe, expect, it, vi } from 'vitest';

import { Page } from '../src/app/pages';
import { LOADS } from '../src/app/routes';
import { skew } from '../src/data/skew';
import { apply, deployments, deploymentsLoading, devices, devicesLoading, me, models, modelsLoading, reload } from '../src/data/store';
import { ModelsPage } from '../src/pages/catalogue/page';
import { DevicePage } from '../src/pages/device/page';
import { DevicesPage } from '../src/pages/devices/page';
import { Notices } from '../src/ui/notices';
import '../src/ui/role_notice';
import { go } from '../src/ui/router';
import { deployment, device, model } from './fixtures';
import { accessible, controls, OWNER, place, press, pressInMenu, settled, type } from './placed';

vi.setConfig({ testTimeout: 30_000 });

const here = place();
const READY = { state: 'ready', error: null } as const;
const PROXY = '<!doctype html><title>Sign in to the network</title><form><input name="password"></form>';

/** Answers a path with words that are no document of the backend, with the status of a success. */
function garble(path: string, words: string): () => void {
  const intact = globalThis.fetch;
  vi.stubGlobal('fetch', async (input: Request | string, init?: RequestInit) => {
    const url = new URL(input instanceof Request ? input.url : input, location.href);
    if (url.pathname !== `/api/v1${path}`) return intact(input, init);
    return new Response(words, { status: 200, headers: { 'content-type': words.startsWith('<') ? 'text/html' : 'application/json' } });
  });
  return () => vi.stubGlobal('fetch', intact);
}

function openDevice(tab = 'models'): void {
  devices.loaded([device('a')]);
  models.loaded([model('1', { name: 'llama' })]);
  deployments.loaded([deployment('1', 'dev_a', { stale: true })]);
  deploymentsLoading.value = READY;
  go(`/devices/dev_a?tab=${tab}`);
  here.show(<><DevicePage /><Notices /></>);
}

describe.each([
  ['the login page of a proxy', PROXY],
  ['half a document', '{"items":[{"device_id":"dev_a","name":"fro'],
  ['nothing', ''],
])('an answer with 200 that is %s', (_, words) => {
  it('is not taken for an empty account, and is asked for again', async () => {
    Object.assign(here.served.answers, {
      '/devices': [200, { items: [device('a')] }], '/deployments': [200, { items: [] }], '/models': [200, { items: [] }],
    });
    const mend = garble('/devices', words);
    go('/devices');
    here.show(<DevicesPage />);
    await reload();
    await settled('The devices could not be loaded');
    await settled('a proxy');
    expect(document.body.textContent).not.toContain('No device yet');
    expect(document.querySelector('[name=password]')).toBeNull();
    await accessible();
    mend();
    await press('Try again');
    await vi.waitFor(() => expect(devicesLoading.value.state).toBe('ready'));
    await vi.waitFor(() => expect(document.querySelectorAll('.device-row[data-state]')).toHaveLength(1));
  });

  it('is no outcome of a write, which is not sent again', async () => {
    openDevice();
    garble('/models/mdl_1/repair-serving/dev_a', words);
    await press('Repair');
    await settled('a proxy');
    expect(document.body.textContent).not.toContain('was repaired');
  });
});

describe('a write that is refused', () => {
  it.each([
    [429, 'too many requests of this account: retry in 30 s'],
    [503, 'the backend is stopping'],
  ])('with %i says why in the words of the backend, and is not repeated behind the back of the person', async (status, detail) => {
    openDevice();
    const path = '/models/mdl_1/repair-serving/dev_a';
    here.served.answers[path] = [status, { status, detail }, { 'retry-after': '30' }];
    await press('Repair');
    await settled(`${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`);
    expect(here.served.to(path)).toHaveLength(1);
    await settled('Stale allowlist');
    expect(controls()).toContain('Repair');
  });

  it('is sent once by a double click', async () => {
    openDevice();
    const path = '/models/mdl_1/repair-serving/dev_a';
    here.served.answers[path] = () => new Promise(() => undefined);
    const repair = [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Repair');
    repair?.click();
    repair?.click();
    await vi.waitFor(() => expect(here.served.to(path)).toHaveLength(1));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(here.served.to(path)).toHaveLength(1);
  });
});

describe('a clock that is two hours off', () => {
  it.each([-2, 2])('(%i h) makes no device look away: the times are told by the clock of the backend', async (hours) => {
    const truth = Date.now() + hours * 3_600_000;
    const seen = new Date(truth - 5 * 60_000).toISOString();
    here.served.answers['/devices'] = [
      200, { items: [device('a', { online: false, last_seen_at: seen })] }, { date: new Date(truth).toUTCString() },
    ];
    Object.assign(here.served.answers, { '/deployments': [200, { items: [] }], '/models': [200, { items: [] }] });
    go('/devices');
    here.show(<DevicesPage />);
    await reload();
    await settled('5 min. ago');
    expect(Math.abs(skew.value - hours * 3_600_000)).toBeLessThan(5_000);
    here.served.answers['/devices'] = [200, { items: [] }, { date: new Date().toUTCString() }];
    await reload();
    expect(skew.value).toBe(0);
  });
});

describe('two people who rename one device', () => {
  const field = (): HTMLInputElement => document.getElementById('device-name') as HTMLInputElement;

  it('see each other’s names, and the second keeps what is typed and is told', async () => {
    openDevice('about');
    await vi.waitFor(() => expect(field()?.value).toBe('a'));
    await type('#device-name', 'mine');
    devices.changed(device('a', { name: 'theirs' }));
    await settled('Somebody else has renamed the device to theirs.');
    expect(field().value).toBe('mine');
    await accessible();
    await type('#device-name', 'theirs');
    devices.changed(device('a', { name: 'last' }));
    await vi.waitFor(() => expect(field().value).toBe('last'));
    expect(document.body.textContent).not.toContain('Somebody else has renamed');
  });
});

describe('a role that is lowered while a dialog is open', () => {
  it('takes the dialog away, sends nothing, and says so', async () => {
    openDevice('about');
    await press('Remove the device…');
    await vi.waitFor(() => expect(document.querySelector('dialog')).not.toBeNull());
    await type('dialog input', 'a');
    here.served.answers['/me'] = [200, { ...OWNER, role: 'viewer' }];
    apply({ kind: 'member', id: OWNER.user_id, change: 'changed', item: { ...OWNER, role: 'viewer' } });
    const { learnRole } = await import('../src/data/permission');
    await learnRole();
    await settled('Viewer');
    await vi.waitFor(() => expect(document.querySelector('dialog')).toBeNull());
    expect(controls()).not.toContain('Remove the device…');
    expect(here.served.asked.filter(({ method }) => method === 'DELETE')).toEqual([]);
  });
});

describe('a role that is lowered while a model of a device is about to be removed or moved', () => {
  it.each(['Remove…', 'Change port…'])('takes the dialog of %s away', async (button) => {
    models.loaded([model('1')]);
    deployments.loaded([deployment('1', 'dev_a', { serving: { is_serving: true, state: 'serving', port: 8080 } })]);
    for (const loading of [modelsLoading, deploymentsLoading]) loading.value = { state: 'ready', error: null };
    openDevice('models');
    await pressInMenu(button);
    await vi.waitFor(() => expect(document.querySelector('dialog')).not.toBeNull());
    me.value = { ...OWNER, role: 'viewer' };
    await vi.waitFor(() => expect(document.querySelector('dialog')).toBeNull());
  });
});

describe('a role that is lowered while a model is about to be deployed', () => {
  it('takes that dialog away, wherever it was opened', async () => {
    models.loaded([model('1')]);
    modelsLoading.value = { state: 'ready', error: null };
    go('/models');
    here.show(<ModelsPage />);
    await press('Deploy…');
    await vi.waitFor(() => expect(document.querySelector('dialog')).not.toBeNull());
    me.value = { ...OWNER, role: 'viewer' };
    await vi.waitFor(() => expect(document.querySelector('dialog')).toBeNull());
  });
});

describe('an old page after an upgrade of the backend', () => {
  it('offers to load it anew when a part of it is gone, and keeps the rest', async () => {
    const gone = vi.spyOn(LOADS, 'audit').mockRejectedValue(new TypeError('Failed to fetch dynamically imported module'));
    go('/audit');
    here.show(<Page />);
    await settled('Reload');
    expect(document.querySelectorAll('h1')).toHaveLength(1);
    await accessible();
    gone.mockRestore();
  });
});
