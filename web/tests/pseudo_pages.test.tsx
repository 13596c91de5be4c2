// Whole pages in the pseudo-language: a word that does not come from `src/text` is the only one in plain letters. Foreign
// data of these tests, such as names, has no plain letters.

import { afterEach, describe, expect, it, vi } from 'vitest';

vi.hoisted(() => Object.defineProperty(navigator, 'languages', { value: ['en-XA', 'en'], configurable: true }));

import { Page } from '../src/app/pages';
import { LOADS } from '../src/app/routes';
import { Shell } from '../src/app/shell';
import { session } from '../src/data/session';
import { deployments, deploymentsLoading, devices, devicesLoading, me, models, modelsLoading } from '../src/data/store';
import { Login } from '../src/pages/entry/login_form';
import type { PageName } from '../src/ui/addresses';
import { DeployDialog } from '../src/ui/deploy';
import { Notices } from '../src/ui/notices';
import { go } from '../src/ui/router';
import { deployment, device, model, installer } from './fixtures';
import { accessible, OWNER, place } from './placed';
import { spaced } from './spaced';

// A list that is followed for good is, before the tests count who follows.
await Promise.all(Object.values(LOADS).map((load) => load()));
const here = place();
const NAME = '名前';
const AT = '2026-11-20T00:00:00Z';
const PERSON = { ...OWNER, email: '人@例え' };
/** Values that are the same in every language: units, versions, systems, digests and addresses. */
const SAME = [
  /\b[\d.,]+ (B|[kMGTP]B|ms|s)\b/g, /\b\d+(\.\d+)?\/s\b/g, /°C/g, /\blinux\b|\bx86_64\b|\bgguf\b/g, /https?:\/\/\S*/g, /\b(usr|dev|mdl|dpl|key|ent|opr|cmd|tok)_\S+/g,
  // Times as the language formats them.
  /\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b|\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b|\b[AP]M\b|\b(in )?\d+ (days?|hr|hours?|minutes?|min\.?|sec)( ago)?/g,
  // What the backend of the tests says of a path without an answer.
  /Nothing here\./g,
];
const SPOKEN = ['aria-label', 'title', 'placeholder', 'alt', 'data-label'] as const;

/** Returns what a person reads or hears that has a letter without an accent. */
function plain(): string[] {
  const found: string[] = [];
  for (const element of document.querySelectorAll('body *')) {
    if (element.closest('time, pre, code, script, style, .chart-canvas canvas')) continue;
    const own = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.nodeValue ?? '');
    for (const words of [...own, ...SPOKEN.map((name) => element.getAttribute(name) ?? '')]) {
      if (/[a-z]/i.test(SAME.reduce((left, same) => left.replace(same, ''), spaced(words)))) found.push(words.trim());
    }
  }
  return [...new Set(found)];
}

async function whole(): Promise<void> {
  await vi.waitFor(
    () => {
      expect(document.querySelector('main h1, main h2, main label')).not.toBeNull();
      expect(document.querySelector('.skeleton')).toBeNull();
    },
    { timeout: 5_000 },
  );
}

const SYSTEM = {
  reported_at: AT, cpu_percent: 20, cpu_count: 4, load_1m: 0.5, temperature_celsius: 50, memory: { used_bytes: 1e9, total_bytes: 2e9 },
  disk: { free_bytes: 1e9, total_bytes: 1e11 }, gpus: [], engines: [], agent: { cpu_percent: 1, memory_bytes: 1e6 },
};
const WORK = { kind: 'repair', model_id: 'mdl_1' };
const COUNTS = { pending: 1, sent: 0, succeeded: 1, failed: 1, skipped: 0, cancelled: 0 };
const OPERATION = {
  operation_id: 'opr_1', work: WORK, state: 'running', counts: COUNTS, devices: 3, created_at: AT, requested_by: { kind: 'user', id: 'usr_1' },
};
const COMMAND = {
  command_id: 'cmd_1', type: 'REPAIR_SERVING', state: 'sent', device_id: 'dev_1', model_id: 'mdl_1', created_at: AT, expires_at: '2099-11-21T00:00:00Z',
};
const SUMMARY = {
  commands: { failed_last_day: 1, open: 1 },
  deployments: { failed: 1, in_progress: 1, serving: 1, serving_offline: 1, stale: 1, total: 3, unserved: 1 },
  devices: { nearly_full: 1, offline: 1, online: 1, rolled_back: 1, total: 3, updating: 1 },
  keys: { ending_within_week: 1, total: 1 },
  models: { incomplete: 1, total: 1 },
  operations: { running: 1 },
  repairs: { sent: 1 },
  usage_today: { completion_tokens: 1_000, prompt_tokens: 500, requests: 3 },
  versions: [{ devices: 2, version: '1.3.0' }],
};
const KEY = {
  key_id: 'key_1', kind: 'fleet', name: NAME, tags: [NAME], devices: 1, state: 'valid', created_at: AT, created_by: 'usr_1', expires_at: '2099-01-01T00:00:00Z',
  max_devices: 3,
};

/** Answers each list with one thing in it. */
function serve(): void {
  Object.assign(here.served.answers, {
    '/me': [200, PERSON],
    '/summary': [200, SUMMARY],
    '/commands': [200, { items: [COMMAND] }],
    '/keys': [200, { items: [KEY] }],
    '/members': [200, { items: [{ user_id: 'usr_1', email: '人@例え', role: 'operator', joined_at: AT }] }],
    '/invitations': [200, { items: [] }],
    '/tokens': [200, { items: [] }],
    '/audit': [200, { items: [{ entry_id: 'ent_1', at: AT, actor: { kind: 'user', id: 'usr_1' }, action: '行為', outcome: 'refused', subject: 'dev_1', detail: NAME }] }],
    '/settings/allowlist': [200, { origins: ['https://1.2.3.4'], default_origins: [], effective: ['https://1.2.3.4'], digest: 'x' }],
    '/sessions': [200, { items: [{ session_id: 'ses_1', kind: 'browser', agent: null, current: false, created_at: AT, last_used_at: AT, address: null, login: 'login.password' }] }],
    '/operations': [200, { items: [OPERATION] }],
    '/operations/opr_1': [200, OPERATION],
    '/operations/opr_1/devices': [200, { items: [{ device_id: 'dev_1', name: NAME, state: 'failed', detail: NAME, attempts: 1, updated_at: AT }] }],
    '/install': [200, installer()],
    '/usage': [200, { group_by: 'model', bucket: 'day', items: [], groups: [], begin: AT, end: AT }],
    '/devices/dev_1/logs': [200, { items: [{ number: 1, received_at: AT, severity: 'warning', category: '類', message: NAME }] }],
    '/devices/dev_1/metrics': [404, { status: 404, detail: NAME }],
  });
  session.value = 'in';
  me.value = PERSON;
  devices.loaded([
    device('1', { name: NAME, platform: { os: 'linux', arch: 'x86_64', hostname: NAME }, tags: [NAME], system: SYSTEM as never, last_update: { from: '1.2.0', to: '1.3.0', outcome: 'rolled_back', reason: NAME } }),
    device('2', { name: NAME, online: false }),
    device('3', { name: NAME, status: 'updating' }),
  ]);
  devicesLoading.value = { state: 'ready', error: null };
  models.loaded([model('1', { name: NAME, file_name: NAME })]);
  modelsLoading.value = { state: 'ready', error: null };
  deployments.loaded([
    deployment('1', 'dev_1', { alias: NAME, stale: true }),
    deployment('2', 'dev_1', { alias: NAME, model_id: 'mdl_1', state: 'downloading', progress: { bytes_done: 5e6, bytes_total: 1e7 } }),
    deployment('3', 'dev_2', { alias: NAME, model_id: 'mdl_1', state: 'failed', reason: NAME, serving: null }),
  ]);
  deploymentsLoading.value = { state: 'ready', error: null };
}

const ADDRESSES: Record<PageName, readonly string[]> = {
  overview: ['/'],
  devices: ['/devices', '/devices?q=0'],
  add: ['/devices/add'],
  device: ['/devices/dev_1?tab=models', '/devices/dev_1?tab=performance', '/devices/dev_1?tab=logs', '/devices/dev_1?tab=commands', '/devices/dev_1?tab=about'],
  login: [],
  setup: ['/setup'],
  invite: ['/invite'],
  machine: ['/device'],
  keys: ['/keys'],
  members: ['/members'],
  tokens: ['/tokens'],
  audit: ['/audit'],
  usage: ['/usage'],
  settings: ['/settings'],
  deployments: ['/deployments'],
  repairs: ['/repairs'],
  operations: ['/operations'],
  operation: ['/operations/opr_1'],
  models: ['/models'],
  model: ['/models/mdl_1'],
  workspace: ['/workspace'],
};

describe('in the pseudo-language, every word is one of the language', () => {
  afterEach(() => (session.value = 'unknown'));
  it.each(Object.values(ADDRESSES).flat())('on %s', async (address) => {
    serve();
    // Some pages are reached only by loading them.
    history.replaceState(null, '', address);
    go(address);
    here.show(<><Shell><Page /></Shell><Notices /></>);
    await whole();
    expect(plain()).toEqual([]);
  });

  it('on the login, and in a dialog', async () => {
    here.show(<Login ended />);
    await whole();
    expect(plain()).toEqual([]);
    serve();
    here.show(<DeployDialog close={() => undefined} />);
    await vi.waitFor(() => expect(document.querySelector('dialog')).not.toBeNull());
    expect(plain()).toEqual([]);
    await accessible();
  });
});
