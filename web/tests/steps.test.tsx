// The overview of an account without devices: a line that is made on request, and the device that comes by it.

import { beforeEach, describe, expect, it, vi } from 'vitest';

import { apply, devices, heard, me, models } from '../src/data/store';
import type { Key, Summary } from '../src/data/types';
import { OverviewPage } from '../src/pages/overview/page';
import { go } from '../src/ui/router';
import { device, HOSTILE, installer, model } from './fixtures';
import { accessible, control, controls, OWNER, place, press, settled } from './placed';

const SECRET = 'lrk_0123456789abcdefghij';
const INFO: Key = {
  key_id: 'key_1', kind: 'registration', name: 'Overview', created_at: '2026-11-20T00:00:00Z',
  expires_at: new Date(Date.now() + 86_400_000).toISOString(), devices: 0, tags: [], revoked: false,
};
interface Counts {
  models?: number;
  incomplete?: number;
  progress?: number;
  serving?: number;
}
const summary = (total: number, { models: all = 0, incomplete = 0, progress = 0, serving = 0 }: Counts = {}): Summary => ({
  commands: { failed_last_day: 0, open: 0 },
  deployments: { failed: 0, in_progress: progress, serving, serving_offline: 0, stale: 0, total: progress + serving, unserved: 0 },
  devices: { nearly_full: 0, offline: 0, online: total, rolled_back: 0, total, updating: 0 },
  keys: { ending_within_week: 0, total: 0 },
  models: { incomplete, total: all },
  operations: { running: 0 },
  repairs: { sent: 0 },
  usage_today: { completion_tokens: 0, prompt_tokens: 0, requests: 0 },
  versions: [],
});

const here = place();
let copied: string[];

beforeEach(() => {
  here.served.answers['/install'] = [200, installer()];
  copied = [];
  here.served.answers['/summary'] = [200, summary(0)];
  here.served.answers['/commands'] = [200, { items: [] }];
  here.served.answers['/keys'] = ({ method }) => (method === 'POST' ? [201, { key: SECRET, info: INFO }] : [200, { items: [] }]);
  Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText: async (words: string) => void copied.push(words) } });
  go('/');
});

const line = (): string => document.getElementById('install-line')?.textContent ?? '';
const made = (): unknown[] => here.served.to('/keys').filter(({ method }) => method === 'POST').map(({ body }) => body);

describe('the first steps', () => {
  it('show the line without a key, and make none before it is asked for', async () => {
    here.show(<OverviewPage />);
    await settled('LINK_REGISTRATION_KEY=… sh');
    expect(line()).toBe('curl -fsSL http://127.0.0.1/install.sh | LINK_REGISTRATION_KEY=… sh');
    for (const href of ['/devices/add', '/models?open=add', '/models', '/workspace']) expect(here.root.querySelector(`#first-steps a[href="${href}"]`)).not.toBeNull();
    expect(made()).toEqual([]);
    await accessible();
  });

  it('make a key for a day, once for two clicks, copy the line, and show the device that comes', async () => {
    here.show(<OverviewPage />);
    const make = await control('Make a key and copy the line');
    await vi.waitFor(() => expect((make as HTMLButtonElement).disabled).toBe(false));
    make.click();
    make.click();
    await settled(`LINK_REGISTRATION_KEY=${SECRET} sh`);
    expect(made()).toHaveLength(1);
    expect(made()[0]).toMatchObject({ kind: 'registration', name: 'Overview' });
    expect(Date.parse((made()[0] as { expires_at: string }).expires_at) - Date.now()).toBeLessThanOrEqual(86_400_000);
    expect(copied).toEqual([line()]);
    await settled('Copied. The key registers one device');
    await settled('Waiting for a device');
    await accessible();

    devices.changed(device('new', { name: HOSTILE[0] ?? '', key_id: INFO.key_id, registered_at: '2026-11-20T00:01:00Z', online: false }));
    apply({ kind: 'key', id: 'key_1', change: 'changed', item: { ...INFO, devices: 1 } });
    heard({ type: 'change', id: null, change: { kind: 'summary', change: 'changed', item: summary(1) } });
    // The steps stay for the device that came, above the counts. The key is used up, so it is gone.
    await settled('1 of 1');
    await vi.waitFor(() => expect(document.querySelectorAll('.arrival .step.done')).toHaveLength(1));
    await vi.waitFor(() => expect(document.body.innerHTML).not.toContain(SECRET));
    expect(line()).toContain('LINK_REGISTRATION_KEY=… sh');
    devices.patched('dev_new', { online: true });
    await vi.waitFor(() => expect(document.querySelectorAll('.arrival .step.done')).toHaveLength(2));
    expect(here.root.querySelector('img')).toBeNull();
    await accessible();
  });

  it('lead from each to the next: a device, a model, its deployment, a question', async () => {
    const step = (): string => document.querySelector('#first-steps li.now a.button.primary')?.getAttribute('href') ?? '';
    const done = (): number => document.querySelectorAll('#first-steps li.done').length;
    const now = (counts: Summary): void => heard({ type: 'change', id: null, change: { kind: 'summary', change: 'changed', item: counts } });
    here.served.answers['/summary'] = [200, summary(1)];
    here.show(<OverviewPage />);
    await settled('1 of 1');
    expect([done(), step()]).toEqual([1, '/models?open=add']);
    await accessible();

    now(summary(1, { models: 1, incomplete: 1 }));
    await settled('1 model has no complete file yet.');
    expect([done(), step()]).toEqual([1, '/models']);

    models.loaded([model('first')]);
    now(summary(1, { models: 1 }));
    await vi.waitFor(() => expect([done(), step()]).toEqual([2, '/models/mdl_first?open=deploy']));
    await accessible();

    now(summary(1, { models: 1, progress: 1 }));
    await vi.waitFor(() => expect([done(), step()]).toEqual([2, '/deployments']));

    now(summary(1, { models: 1, serving: 1 }));
    await vi.waitFor(() => expect([done(), step()]).toEqual([3, '/workspace']));
    await accessible();
  });

  it('name no model to deploy where there are several', async () => {
    models.loaded([model('first'), model('second')]);
    here.served.answers['/summary'] = [200, summary(1, { models: 2 })];
    here.show(<OverviewPage />);
    await settled('1 of 1');
    await vi.waitFor(() => expect(document.querySelector('#first-steps li.now a.button.primary')?.getAttribute('href')).toBe('/models'));
  });

  it('are gone with the next visit once a model is deployed', async () => {
    here.served.answers['/summary'] = [200, summary(1, { models: 1, serving: 1 })];
    here.show(<OverviewPage />);
    await settled('1 of 1');
    expect(document.getElementById('first-steps')).toBeNull();
  });

  it('leave the copying to the person where the browser refuses', async () => {
    Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText: () => Promise.reject(new Error('denied')) } });
    here.show(<OverviewPage />);
    await settled('LINK_REGISTRATION_KEY=… sh');
    await press('Make a key and copy the line');
    await settled(SECRET);
    expect(here.root.querySelector('#first-steps')?.textContent).not.toContain('Copied.');
    expect(controls()).toContain('Copy install line');
  });

  it('say that the backend has no release, and look again when a key is made', async () => {
    here.served.answers['/install'] = [200, installer(null)];
    here.show(<OverviewPage />);
    await settled('publishes no release yet');
    await accessible();
    here.served.answers['/install'] = [200, installer()];
    await press('Make a key and copy the line');
    await settled(SECRET);
    expect(here.root.textContent).not.toContain('publishes no release');
  });

  it('have the line of the reader’s system first, and the others beside it', async () => {
    Object.defineProperty(navigator, 'userAgentData', { configurable: true, value: { platform: 'Windows' } });
    here.served.answers['/install'] = [200, installer(['linux', 'windows'])];
    here.show(<OverviewPage />);
    await settled("$env:LINK_REGISTRATION_KEY='…'; irm http://127.0.0.1/install.ps1 | iex");
    expect(controls().slice(0, 3)).toEqual(['Windows (PowerShell)', 'Linux', 'macOS']);
    await accessible();
    await press('macOS');
    await settled('publishes no release for macOS');
    expect((await control('Make a key and copy the line') as HTMLButtonElement).disabled).toBe(true);
    await accessible();
    await press('Linux');
    await settled('LINK_REGISTRATION_KEY=… sh');
    await press('Make a key and copy the line');
    await settled(SECRET);
    expect(copied).toEqual([`curl -fsSL http://127.0.0.1/install.sh | LINK_REGISTRATION_KEY=${SECRET} sh`]);
    await press('Windows (PowerShell)');
    await settled(`$env:LINK_REGISTRATION_KEY='${SECRET}'`);
    Reflect.deleteProperty(navigator, 'userAgentData');
  });

  it('say in the backend’s words why there is no key', async () => {
    here.served.answers['/keys'] = ({ method }) => (method === 'POST' ? [409, { status: 409, detail: 'the account has too many keys' }] : [200, { items: [] }]);
    here.show(<OverviewPage />);
    await settled('LINK_REGISTRATION_KEY=… sh');
    await press('Make a key and copy the line');
    await settled('The account has too many keys.');
    await accessible();
  });

  it('offer no key to who may create none', async () => {
    me.value = { ...OWNER, role: 'operator' };
    here.show(<OverviewPage />);
    await settled('Your role cannot create keys.');
    expect(document.getElementById('install-line')).toBeNull();
    await accessible();
  });
});
