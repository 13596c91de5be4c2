// Lists that cannot be loaded, are loaded twice at a time, or late.

import { render } from 'preact';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { passes, pauseAfter } from '../src/data/retry';
import { Problem, Unreachable } from '../src/data/problem';
import { Rows } from '../src/data/rows';
import {
  apply, commands, commandsLoading, deploymentsLoading, deployments, devices, devicesLoading, heard, reload, stop, watchCommands,
} from '../src/data/store';
import type { Command, Device } from '../src/data/types';
import { Models } from '../src/pages/device/models';
import { backend, held, type Backend } from './backend';
import { deployment, device } from './fixtures';

const command = (state: Command['state']): Command => ({
  command_id: 'cmd_1', type: 'REPAIR_SERVING', state, device_id: 'dev_a',
  created_at: '2026-11-20T00:00:00Z', expires_at: '2026-11-21T00:00:00Z',
});

let served: Backend;

beforeEach(() => {
  localStorage.setItem('link.csrf', 's');
  served = backend({
    '/devices': [200, { items: [device('a')] }],
    '/deployments': [200, { items: [] }],
    '/models': [200, { items: [] }],
  });
  stop();
});
afterEach(() => {
  stop();
  vi.useRealTimers();
});

describe('a load that failed', () => {
  beforeEach(async () => {
    served.answers['/devices'] = [503, { status: 503 }, { 'retry-after': '7' }];
    vi.useFakeTimers();
    await reload();
    expect(devicesLoading.value.state).toBe('failed');
  });

  it('is repeated by itself, not before the backend wants it', async () => {
    await vi.advanceTimersByTimeAsync(6_900);
    expect(served.to('/devices')).toHaveLength(1);
    served.answers['/devices'] = [200, { items: [device('a')] }];
    await vi.advanceTimersByTimeAsync(2_000);
    expect(devicesLoading.value.state).toBe('ready');
    expect(devices.size).toBe(1);
    expect(served.to('/models')).toHaveLength(1);
  });

  it('is repeated when the stream goes on', async () => {
    served.answers['/devices'] = [200, { items: [device('a')] }];
    heard({ type: 'ready', id: '1', resumed: true });
    await vi.advanceTimersByTimeAsync(100);
    expect(devicesLoading.value.state).toBe('ready');
    expect(served.to('/models')).toHaveLength(1);
  });

  it('is not repeated after a logout', async () => {
    stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(served.to('/devices')).toHaveLength(1);
    expect(devicesLoading.value.state).toBe('idle');
  });
});

describe('the pause', () => {
  it('doubles up to a minute', () => {
    const pauses = [1, 2, 3, 10].map((count) => pauseAfter(count, new Unreachable(null)));
    for (const [index, least] of [2_000, 4_000, 8_000, 60_000].entries()) {
      expect(pauses[index]).toBeGreaterThanOrEqual(least);
      expect(pauses[index]).toBeLessThanOrEqual(least * 1.25);
    }
  });

  it('is for failures that pass', () => {
    expect([429, 500, 503, 401, 403, 404].map((status) => passes(new Problem(status, {})))).toEqual([true, true, true, false, false, false]);
  });
});

it('shows on the page of a device that its models could not be loaded, beside the old ones', () => {
  document.body.innerHTML = '<div id="root"></div>';
  const root = document.getElementById('root') as HTMLElement;
  deployments.loaded([deployment('1', 'dev_a')]);
  deploymentsLoading.value = { state: 'failed', error: new Problem(503, { detail: 'too much to do' }) };
  render(<Models device={device('a')} />, root);
  expect(root.querySelector('[role=alert]')?.textContent).toContain('Too much to do.');
  expect(root.querySelectorAll('.model')).toHaveLength(1);
  render(null, root);
});

describe('two loads at a time', () => {
  it('take the newer one, whatever arrives first', async () => {
    const first = held<[number, unknown]>();
    const second = held<[number, unknown]>();
    const answers = [first.promise, second.promise];
    served.answers['/commands'] = () => answers.shift() ?? [404, {}];
    const one = watchCommands('dev_a');
    await vi.waitFor(() => expect(answers).toHaveLength(1));
    apply({ kind: 'command', id: 'cmd_1', change: 'changed', item: command('processed') });
    const two = reload();
    await vi.waitFor(() => expect(answers).toHaveLength(0));
    first.keep([200, { items: [command('sent')] }]);
    await one;
    expect(commands.all().map(({ state }) => state)).toEqual(['processed']);
    apply({ kind: 'command', id: 'cmd_1', change: 'removed', item: null });
    second.keep([200, { items: [command('processed')] }]);
    await two;
    expect(commands.size).toBe(0);
    expect(commandsLoading.value.state).toBe('ready');
  });

  it('leave nothing behind after a failure', () => {
    const rows = new Rows<Device>((item) => item.device_id);
    const failed = rows.beginLoad();
    rows.removed('dev_a');
    rows.dropLoad(failed);
    rows.loaded([device('a')]);
    expect(rows.size).toBe(1);
    const older = rows.beginLoad();
    rows.beginLoad();
    rows.loaded([device('b')], older);
    rows.endLoad(older);
    expect(rows.all().map(({ name }) => name)).toEqual(['a']);
  });
});
