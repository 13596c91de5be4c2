// The overview: what needs a person, the counts with the lists behind them, and the first steps.

import { describe, expect, it, vi } from 'vitest';

import { recent } from '../src/data/operator';
import { deployments, deploymentsLoading, devices, devicesLoading, heard, me, models } from '../src/data/store';
import type { Summary } from '../src/data/types';
import { newestOf } from '../src/pages/overview/happened';
import { OverviewPage } from '../src/pages/overview/page';
import { text } from '../src/text';
import { go } from '../src/ui/router';
import { deployment, device, HOSTILE, model } from './fixtures';
import { accessible, controls, OWNER, place, press, settled } from './placed';

const here = place();

const summary = (more: Partial<Summary> = {}): Summary => ({
  commands: { failed_last_day: 0, open: 0 },
  deployments: { failed: 0, in_progress: 0, serving: 2, serving_offline: 0, stale: 0, total: 2, unserved: 0 },
  devices: { nearly_full: 0, offline: 0, online: 2, rolled_back: 0, total: 2, updating: 0 },
  keys: { ending_within_week: 0, total: 0 },
  models: { incomplete: 0, total: 1 },
  operations: { running: 0 },
  repairs: { sent: 0 },
  usage_today: { completion_tokens: 1_000, prompt_tokens: 500, requests: 3 },
  versions: [{ devices: 2, version: '1.3.0' }],
  ...more,
});

function open(current: Summary): void {
  for (const list of [devicesLoading, deploymentsLoading]) list.value = { state: 'ready', error: null };
  here.served.answers['/summary'] = [200, current];
  here.served.answers['/commands'] = [200, { items: [] }];
  go('/');
  here.show(<OverviewPage />);
}

describe('the overview', () => {
  it('is a skeleton, then says in the backend’s words why it failed', async () => {
    here.served.answers['/commands'] = [200, { items: [] }];
    here.served.answers['/summary'] = [422, { status: 422, detail: 'the database is gone' }];
    go('/');
    here.show(<OverviewPage />);
    expect(here.root.querySelector('.skeleton')).not.toBeNull();
    await settled('The database is gone.');
    await accessible();
    for (const list of [devicesLoading, deploymentsLoading]) list.value = { state: 'ready', error: null };
    here.served.answers['/summary'] = [200, summary()];
    await press('Try again');
    await settled('Nothing needs attention');
  });

  it('never says that there is no command while commands have just been loaded', async () => {
    const said = new Set<string>();
    const watch = new MutationObserver(() => {
      if (here.root.textContent.includes(text.overviewPage.noEvents)) said.add('none');
    });
    watch.observe(here.root, { subtree: true, childList: true, characterData: true });
    const command = { command_id: 'cmd_1', type: 'START_SERVING', state: 'processed', device_id: 'dev_1', model_id: null, created_at: new Date().toISOString() };
    here.served.answers['/summary'] = [200, summary()];
    here.served.answers['/commands'] = [200, { items: [command] }];
    // What a page shows again was forgotten when it was left, a moment ago.
    recent.rows.clear();
    go('/');
    here.show(<OverviewPage />);
    await settled(text.commands.kinds.START_SERVING);
    watch.disconnect();
    expect([...said]).toEqual([]);
  });

  it('shows the steps while no device is registered, and the counts as soon as one is', async () => {
    open(summary({ devices: { ...summary().devices, online: 0, total: 0 } }));
    await settled('Four steps');
    expect(here.root.querySelector('a[href="/devices/add"]')).not.toBeNull();
    await accessible();
    heard({ type: 'change', id: null, change: { kind: 'summary', change: 'changed', item: summary() } });
    await settled('2 of 2');
  });

  it('shows what needs a person first, each with the list behind it', async () => {
    const full = { reported_at: '', cpu_percent: 1, memory: { used_bytes: 1, total_bytes: 2 }, disk: { free_bytes: 1, total_bytes: 100 }, gpus: [], engines: [] };
    devices.loaded([
      device('a', { system: full as never }),
      device('b', { online: false, name: HOSTILE[0] ?? '' }),
      device('c', { last_update: { from: '1.2.0', to: '1.3.0', outcome: 'rolled_back', reason: null } }),
    ]);
    models.loaded([model('1')]);
    deployments.loaded([deployment('1', 'dev_a', { stale: true }), deployment('2', 'dev_b', { stale: true })]);
    open(
      summary({
        deployments: { failed: 2, in_progress: 0, serving: 0, serving_offline: 0, stale: 2, total: 5, unserved: 1 },
        devices: { nearly_full: 1, offline: 1, online: 2, rolled_back: 1, total: 3, updating: 0 },
        keys: { ending_within_week: 1, total: 4 },
        models: { incomplete: 1, total: 2 },
      }),
    );
    await settled('2 deployments refuse pages of an allowed origin');
    await accessible();
    expect(here.root.querySelector('img')).toBeNull();
    const points = [...here.root.querySelectorAll('.attention li')].map((point) => [
      point.querySelector('p')?.textContent?.trim(),
      point.querySelector('a.button')?.getAttribute('href'),
    ]);
    expect(points).toEqual([
      [`1 device is offline. ${HOSTILE[0]}`, '/devices?select=state%3Doffline'],
      ['3 deployments have failed.', '/deployments?state=failed'],
      ['The last update was rolled back on 1 device. c', '/devices?select=update%3Drolled_back'],
      ['The disk of 1 device is nearly full. a', '/devices?select=disk%3E%3D90&sort=-disk'],
      ['1 model has no complete file.', '/models?state=incomplete'],
      ['1 key expires within a week.', '/keys?show=soon'],
    ]);
    here.served.answers['/operations'] = [200, { work: {}, devices: 1, first: [] }];
    await press('Repair all…');
    await settled('Repair 2 deployments');
    await accessible();
  });

  it('names the devices that went away last, and links to the others', async () => {
    const seen = [undefined, '2026-11-03', '2026-11-05', '2026-11-01', '2026-11-04', '2026-11-02'];
    devices.loaded(seen.map((day, index) => device(String(index), { online: false, last_seen_at: day ? `${day}T00:00:00Z` : null })));
    open(summary({ devices: { ...summary().devices, offline: 6, online: 0, total: 6 } }));
    await settled('6 devices are offline.');
    const links = [...here.root.querySelectorAll('.attention li p a')].map((link) => [link.textContent, link.getAttribute('href')]);
    expect(links.map(([words]) => words)).toEqual(['2', '4', '1', '5', 'and 2 more']);
    expect(links.at(-1)?.[1]).toBe('/devices?select=state%3Doffline');
    await accessible();
  });

  it('tells at once what the backend has counted, and names and mends nothing before it knows all devices and deployments', async () => {
    const counted = summary();
    open(summary({ deployments: { ...counted.deployments, stale: 12, total: 12 }, devices: { ...counted.devices, rolled_back: 2 } }));
    for (const list of [devicesLoading, deploymentsLoading]) list.value = { state: 'loading', error: null };
    deployments.loaded([deployment('1', 'dev_a', { stale: true })]);
    devices.loaded([device('c', { last_update: { from: '1.2.0', to: '1.3.0', outcome: 'rolled_back', reason: null } })]);
    await settled('12 deployments refuse pages of an allowed origin');
    await settled('The last update was rolled back on 2 devices.');
    expect(here.root.querySelector('.attention .named')).toBeNull();
    expect(controls().filter((words) => words.startsWith('Repair all'))).toEqual([]);
    await accessible();
    devicesLoading.value = { state: 'ready', error: null };
    deploymentsLoading.value = { state: 'failed', error: new Error('The database is gone.') };
    await settled('this may not be all');
    await settled('The database is gone.');
    await accessible();
    deploymentsLoading.value = { state: 'ready', error: null };
    await settled('1 deployment refuses pages of an allowed origin');
    await vi.waitFor(() => expect(here.root.querySelector('.attention .named')?.textContent).toBe('c'));
    expect(controls()).toContain('Repair all…');
  });

  it('says by the counts that all is well, but not while a list has failed', async () => {
    open(summary());
    for (const list of [devicesLoading, deploymentsLoading]) list.value = { state: 'loading', error: null };
    await settled('Nothing needs attention');
    deploymentsLoading.value = { state: 'failed', error: new Error('The database is gone.') };
    await settled('The database is gone.');
    expect(here.root.textContent).not.toContain('Nothing needs attention');
  });

  it('shows the newest events: commands, and devices that registered or went away', async () => {
    const at = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
    devices.loaded([
      device('a', { registered_at: at(30) }),
      device('b', { registered_at: at(90), online: false, last_seen_at: at(10) }),
      device('c', { registered_at: at(95), online: false, last_seen_at: null }),
    ]);
    devicesLoading.value = { state: 'ready', error: null };
    open(summary());
    here.served.answers['/commands'] = [200, { items: [{ command_id: 'cmd_1', type: 'START_SERVING', state: 'sent', device_id: 'dev_a', created_at: at(20), expires_at: '' }] }];
    const events = (): string[] => [...here.root.querySelectorAll('.event-list li')].map((one) => one.querySelector('.event-what')?.textContent.trim() + ' · ' + one.querySelector('.badge')?.textContent);
    await vi.waitFor(() => expect(events()).toHaveLength(5));
    expect(events()).toEqual(['b · Went offline', 'Serve a model a · Sent', 'a · Registered', 'b · Registered', 'c · Registered']);
    await accessible();
    devices.patched('dev_b', { online: true });
    await vi.waitFor(() => expect(events()).toHaveLength(4));
  });

  it('finds the newest events among very many devices', () => {
    const count = 1_000;
    const time = (n: number): string => new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString();
    // 617 and the count have no common divisor: each time once, in no order.
    const many = Array.from({ length: count }, (_, n) => device(`d${n}`, { registered_at: time((n * 617) % count) }));
    expect(newestOf([], many, 12).map(({ at }) => at)).toEqual(Array.from({ length: 12 }, (_, n) => time(count - 1 - n)));
    expect(newestOf([], [], 12)).toEqual([]);
  });

  it('has tiles that open the lists behind them, and follows the stream', async () => {
    open(summary({ operations: { running: 4 } }));
    await settled('Operations running4');
    expect(here.root.textContent).toContain('1,500');
    expect(here.root.textContent).toContain('3\u00a0inferences · 500\u00a0prompt and 1,000\u00a0completion tokens');
    const tile = (name: string): Element | undefined => [...here.root.querySelectorAll('.tile')].find((one) => one.textContent?.startsWith(name));
    expect(tile('Operations running')?.textContent).toContain('4');
    expect(tile('Operations running')?.getAttribute('href')).toBe('/operations?state=running');
    expect(tile('Tokens today')?.getAttribute('href')).toBe('/usage?period=today');
    heard({ type: 'change', id: null, change: { kind: 'summary', change: 'changed', item: summary({ operations: { running: 0 } }) } });
    await vi.waitFor(() => expect(tile('Operations running')?.textContent).toContain('0'));
    const command = { command_id: 'cmd_1', type: 'DEPLOY_MODEL', state: 'sent', device_id: 'dev_x', created_at: '2026-11-20T00:00:00Z', expires_at: '' };
    heard({ type: 'change', id: null, change: { kind: 'command', id: 'cmd_1', change: 'changed', item: command } });
    await settled('Deploy a model');
    await accessible();
  });

  it('says how many of the served models nobody can use, because their device is away', async () => {
    const { deployments: counts } = summary();
    open(summary({ deployments: { ...counts, serving_offline: 1 } }));
    await settled('Deployments serving2 of 21 on devices that are offline');
    heard({ type: 'change', id: null, change: { kind: 'summary', change: 'changed', item: summary() } });
    await vi.waitFor(() => expect(here.root.textContent).not.toContain('on devices that are offline'));
  });

  it('does not take an older summary that a load brings after an event', async () => {
    let answer: (value: [number, unknown]) => void = () => undefined;
    here.served.answers['/summary'] = () => new Promise((resolve) => (answer = resolve));
    here.served.answers['/commands'] = [200, { items: [] }];
    go('/');
    here.show(<OverviewPage />);
    await vi.waitFor(() => expect(here.served.to('/summary')).toHaveLength(1));
    heard({ type: 'change', id: null, change: { kind: 'summary', change: 'changed', item: summary({ operations: { running: 7 } }) } });
    answer([200, summary({ operations: { running: 1 } })]);
    await settled('Operations running7');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(here.root.textContent).toContain('Operations running7');
  });

  it('has no controls for a viewer', async () => {
    me.value = { ...OWNER, role: 'viewer' };
    deployments.loaded([deployment('1', 'dev_a', { stale: true })]);
    open(summary({ keys: { ending_within_week: 1, total: 4 } }));
    await settled('1 deployment refuses pages of an allowed origin');
    expect(controls()).not.toContain('Repair all…');
    expect(here.root.querySelector('a[href="/keys"]')).toBeNull();
  });
});
