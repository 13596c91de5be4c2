// Waiting for commands, however many there are.

import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { act } from '../src/data/actions';
import { backend, type Backend } from './backend';
import { deployment } from './fixtures';

const command = (id: string, more: object = {}): object => ({
  command_id: `cmd_${id}`, type: 'STOP_SERVING', state: 'sent', device_id: 'dev_a',
  created_at: '2026-11-20T00:00:00Z', expires_at: '2026-11-21T00:00:00Z', ...more,
});
const IDS = ['1', '2', '3', '4'];
const RESULT = { status: 'succeeded', output: '' };

let served: Backend;

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.setItem('link.csrf', 's');
  served = backend({ '/deployments': [200, { items: [] }] });
  for (const id of IDS) served.answers[`/models/mdl_${id}/stop/dev_a`] = [202, command(id)];
});
afterEach(() => {
  vi.useRealTimers();
});

it('pauses between two questions, also if the backend does not hold its answer', async () => {
  served.answers['/commands/cmd_1'] = [200, command('1')];
  const ended = act('stop', deployment('1', 'dev_a'));
  await vi.advanceTimersByTimeAsync(1_900);
  expect(served.to('/commands/cmd_1')).toHaveLength(4);
  served.answers['/commands/cmd_1'] = [200, command('1', { result: RESULT })];
  await vi.advanceTimersByTimeAsync(500);
  expect((await ended)?.result).toEqual(RESULT);
});

it('has at most two answers held for all commands', async () => {
  let open = 0;
  let most = 0;
  for (const id of IDS) {
    served.answers[`/commands/cmd_${id}`] = async ({ query }) => {
      if (!query.has('wait')) return [200, command(id)];
      open += 1;
      most = Math.max(most, open);
      await new Promise((resolve) => setTimeout(resolve, 20_000));
      open -= 1;
      return [200, command(id, { result: RESULT })];
    };
  }
  const all = Promise.all(IDS.map((id) => act('stop', deployment(id, 'dev_a'))));
  await vi.advanceTimersByTimeAsync(60_000);
  await all;
  expect(most).toBe(2);
});

it('deploys a stopped model again without serving it', async () => {
  served.answers['/deployments'] = ({ method }) => (method === 'POST' ? [201, deployment('9', 'dev_a')] : [200, { items: [] }]);
  const serves = (): unknown[] => served.to('/deployments').map(({ body }) => (body as { serve: boolean }).serve);
  await act('redeploy', deployment('1', 'dev_a', { serving: { state: 'not_serving', is_serving: false, port: 8080 } }));
  await act('redeploy', deployment('1', 'dev_a'));
  // A deployment that has failed was never served.
  await act('redeploy', deployment('1', 'dev_a', { state: 'failed', serving: null }));
  expect(serves()).toEqual([false, true, true]);
});
