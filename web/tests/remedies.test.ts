// Remedies that the workspace carries out: how they follow their commands and deployments to the end.

import { beforeEach, expect, it } from 'vitest';

import { followers } from '../src/data/followers';
import { RemedyFailed, carryOut } from '../src/workspace/remedies';
import { targetsOf, type Target } from '../src/workspace/targets';
import { backend, type Backend } from './backend';
import { deployment } from './fixtures';

const SUCCEEDED = { status: 'succeeded', output: 'ok' };
const command = (id: string, more: object = {}): object => ({ command_id: id, type: 'REPAIR_SERVING', state: 'sent', ...more });

/** Those that follow the stream as long as the page is there. */
const STAYING = followers.size;

let served: Backend;
let said: string[];
let target: Target;

beforeEach(() => {
  localStorage.setItem('link.csrf', 's');
  served = backend({ '/models/mdl_a/repair-serving/dev_a': [202, command('cmd_1')] });
  said = [];
  [target] = targetsOf([deployment('a', 'dev_a')], () => undefined, () => undefined) as [Target];
});

const repair = (): Promise<void> => carryOut('repair', target, (words) => said.push(words));
const hear = (kind: string, id: string, item: object): void => {
  for (const { changed } of [...followers]) changed({ kind, id, change: 'changed', item });
};

it('follows the command that took the place of its own', async () => {
  served.answers['/commands/cmd_1'] = [200, command('cmd_1', { superseded_by: 'cmd_2', result: { status: 'superseded', output: '' } })];
  served.answers['/commands/cmd_2'] = [200, command('cmd_2', { result: SUCCEEDED })];
  await repair();
  expect(said).toEqual(['Sending the repair to dev_a…', 'A newer command took its place…', 'Repaired.']);
  expect(followers.size).toBe(STAYING);
});

it('tells in the words of every page that a command has expired or failed', async () => {
  served.answers['/commands/cmd_1'] = [200, command('cmd_1', { state: 'expired' })];
  await expect(repair()).rejects.toThrow(new RemedyFailed('The device has not acknowledged the command in time.'));
  served.answers['/commands/cmd_1'] = [200, command('cmd_1', { result: { status: 'failed', output: 'out of memory' } })];
  await expect(repair()).rejects.toThrow(new RemedyFailed('Out of memory.'));
});

it('asks once, and says by the events that the device is at work', async () => {
  served.answers['/commands/cmd_1'] = [200, command('cmd_1')];
  const ended = repair();
  await expect.poll(() => served.to('/commands/cmd_1').length).toBe(1);
  hear('command', 'cmd_1', command('cmd_1', { state: 'processed' }));
  hear('command', 'cmd_1', command('cmd_1', { state: 'processed', result: SUCCEEDED }));
  await ended;
  expect(said.slice(1)).toEqual(['The device is at work…', 'Repaired.']);
  expect(served.to('/commands/cmd_1')).toHaveLength(1);
});

it('says how far a redeployment is, and why it failed', async () => {
  served.answers['/deployments'] = [201, deployment('9', 'dev_a', { state: 'queued', deployment_id: 'dep_9' })];
  served.answers['/deployments/dep_9'] = [200, deployment('9', 'dev_a', { state: 'downloading', deployment_id: 'dep_9' })];
  const failed = carryOut('redeploy', target, (words) => said.push(words)).catch((error: unknown) => error);
  await expect.poll(() => said.length).toBe(2);
  hear('deployment', 'dep_9', deployment('9', 'dev_a', { state: 'failed', reason: 'the disk is full', deployment_id: 'dep_9' }));
  expect(await failed).toEqual(new RemedyFailed('The disk is full.'));
  expect(said[1]).toMatch(/downloading…$/);
});
