// Waiting for commands, however many there are.

import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { act } from '../src/data/actions';
import { followers } from '../src/data/followers';
import { forgetPerson, PersonLeft } from '../src/data/person';
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

const hear = (id: string, item: object | null): void => {
  for (const { changed } of [...followers]) changed({ kind: 'command', id: `cmd_${id}`, change: item === null ? 'removed' : 'changed', item });
};

it('asks nothing while a command runs, however long its device is away', async () => {
  for (const id of IDS) served.answers[`/commands/cmd_${id}`] = [200, command(id)];
  const all = Promise.all(IDS.map((id) => act('stop', deployment(id, 'dev_a'))));
  await vi.advanceTimersByTimeAsync(3_600_000);
  for (const id of IDS) expect(served.to(`/commands/cmd_${id}`)).toHaveLength(1);
  for (const id of IDS) hear(id, command(id, { state: 'processed' }));
  for (const id of IDS) hear(id, command(id, { result: RESULT }));
  await vi.advanceTimersByTimeAsync(0);
  expect((await all).map((one) => one?.result)).toEqual(IDS.map(() => RESULT));
  expect(followers.size).toBe(0);
});

it('looks again where events may be missed, and ends with a command that has expired', async () => {
  served.answers['/commands/cmd_1'] = [200, command('1')];
  const ended = act('stop', deployment('1', 'dev_a'));
  await vi.advanceTimersByTimeAsync(1_000);
  served.answers['/commands/cmd_1'] = [200, command('1', { state: 'expired' })];
  for (const { reload } of [...followers]) reload();
  await vi.advanceTimersByTimeAsync(0);
  expect((await ended)?.state).toBe('expired');
});

it('outlasts a backend that restarts or stays away, but not one that refuses', async () => {
  served.answers['/commands/cmd_1'] = [503, { status: 503, detail: 'the backend restarts' }];
  const first = act('stop', deployment('1', 'dev_a'));
  await vi.advanceTimersByTimeAsync(30_000);
  expect(served.to('/commands/cmd_1').length).toBeGreaterThan(2);
  served.answers['/commands/cmd_1'] = [200, command('1', { result: RESULT })];
  await vi.advanceTimersByTimeAsync(60_000);
  expect((await first)?.result).toEqual(RESULT);

  // One that stays away ends nothing either: the stream tells when it is back.
  served.answers['/commands/cmd_2'] = [503, { status: 503, detail: 'the backend restarts' }];
  const second = act('stop', deployment('2', 'dev_a'));
  await vi.advanceTimersByTimeAsync(3_600_000);
  const asked = served.to('/commands/cmd_2').length;
  expect(asked).toBeLessThan(20);
  served.answers['/commands/cmd_2'] = [200, command('2', { result: RESULT })];
  for (const { reload } of [...followers]) reload();
  await vi.advanceTimersByTimeAsync(0);
  expect((await second)?.result).toEqual(RESULT);
  served.answers['/commands/cmd_3'] = [404, { status: 404, detail: 'no such command' }];
  const third = act('stop', deployment('3', 'dev_a')).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(0);
  expect(await third).toMatchObject({ status: 404 });
  expect(followers.size).toBe(0);
});

it('goes on for the same person in another role, and ends with the person', async () => {
  served.answers['/commands/cmd_1'] = [200, command('1')];
  served.answers['/commands/cmd_2'] = [200, command('2')];
  const [first, second] = ['1', '2'].map((id) => act('stop', deployment(id, 'dev_a')).catch((error: unknown) => error));
  await vi.advanceTimersByTimeAsync(0);
  // What the pages show is forgotten when the role changes, and loaded anew.
  for (const { clear } of [...followers]) clear();
  hear('1', command('1', { result: RESULT }));
  await vi.advanceTimersByTimeAsync(0);
  expect(await first).toMatchObject({ result: RESULT });
  forgetPerson();
  expect(await second).toBeInstanceOf(PersonLeft);
  expect(followers.size).toBe(0);
});

it('looks one time after the other, however often it has to', async () => {
  let open = 0;
  let most = 0;
  served.answers['/commands/cmd_1'] = async () => {
    open += 1;
    most = Math.max(most, open);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    open -= 1;
    return [200, command('1', served.to('/commands/cmd_1').length > 1 ? { result: RESULT } : {})];
  };
  const ended = act('stop', deployment('1', 'dev_a'));
  await vi.advanceTimersByTimeAsync(10);
  for (let times = 0; times < 5; times += 1) for (const { reload } of [...followers]) reload();
  await vi.advanceTimersByTimeAsync(10_000);
  expect((await ended)?.result).toEqual(RESULT);
  expect([most, served.to('/commands/cmd_1').length]).toEqual([1, 2]);
});

it('deploys a stopped model again without serving it, and any other one to serve', async () => {
  served.answers['/deployments'] = ({ method }) => (method === 'POST' ? [201, deployment('9', 'dev_a')] : [200, { items: [] }]);
  const serves = (): unknown[] => served.to('/deployments').map(({ body }) => (body as { serve: boolean }).serve);
  await act('redeploy', deployment('1', 'dev_a', { serving: { state: 'not_serving', is_serving: false, port: 8080 } }));
  await act('redeploy', deployment('1', 'dev_a'));
  // Of this one the device has reported nothing.
  await act('redeploy', deployment('1', 'dev_a', { state: 'failed', serving: null }));
  await act('redeploy', deployment('1', 'dev_a', { serving: { state: 'starting', is_serving: false, port: 8080 } }));
  await act('redeploy', deployment('1', 'dev_a', { serving: { state: 'stopping', is_serving: true, port: 8080 } }));
  const givenUp = { state: 'not_serving', is_serving: false, port: 8080, detail: 'too little memory' } as const;
  await act('redeploy', deployment('1', 'dev_a', { serving: givenUp }));
  await act('redeploy', deployment('1', 'dev_a', { state: 'failed', serving: givenUp }));
  expect(serves()).toEqual([false, true, true, true, false, true, true]);
});
