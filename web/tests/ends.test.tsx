// What goes on without its page is told where the person is by then: how a deployment and an upload have ended. And each page has a
// name of its own.

import { describe, expect, it, vi } from 'vitest';

import { Page } from '../src/app/pages';
import { endedDeployment, endedUpload } from '../src/data/ends';
import { deployments, devices, heard, models } from '../src/data/store';
import type { Deployment } from '../src/data/types';
import { Login } from '../src/pages/entry/login_form';
import { carryOut } from '../src/ui/carry_out';
import { notice, Notices } from '../src/ui/notices';
import '../src/ui/deployment_notice';
import { go } from '../src/ui/router';
import '../src/ui/upload_notice';
import { deployment, device, HOSTILE, model } from './fixtures';
import { place, settled } from './placed';

const here = place();

const told = (item: Deployment): void =>
  heard({ type: 'change', id: null, change: { kind: 'deployment', id: item.deployment_id, change: 'changed', item } });
const notices = (): string[] => [...document.querySelectorAll('.notice')].map((one) => one.textContent ?? '');

describe('a deployment', () => {
  async function redeployed(number: number): Promise<Deployment> {
    const sent = deployment(`${number}`, 'dev_lab', { model_id: 'mdl_1', state: 'queued' });
    devices.loaded([device('lab')]);
    models.loaded([model('1', { name: 'llama' })]);
    deployments.loaded([deployment('1', 'dev_lab')]);
    Object.assign(here.served.answers, { '/deployments': [202, sent], [`/deployments/${sent.deployment_id}`]: [200, sent] });
    here.show(<Notices />);
    carryOut('redeploy', deployment('1', 'dev_lab'), 'llama');
    await settled('llama is being deployed again.');
    await vi.waitFor(() => expect(here.served.to(`/deployments/${sent.deployment_id}`)).toHaveLength(1));
    return sent;
  }

  it('that has completed is said once', async () => {
    const sent = await redeployed(21);
    told({ ...sent, state: 'downloading' });
    told({ ...sent, state: 'completed' });
    await settled('llama is deployed to lab.');
    told({ ...sent, state: 'completed', stale: true });
    // What comes later is shown later.
    notice('the last one');
    await settled('the last one');
    expect(notices()).toHaveLength(2);
  });

  it('that has failed is said with its reason', async () => {
    const sent = await redeployed(22);
    told({ ...sent, state: 'failed', reason: 'the disk is full' });
    await settled('llama could not be deployed to lab. The disk is full.');
    expect(notices()).toHaveLength(1);
  });

  it('that was cancelled is not: who has cancelled it knows', async () => {
    const sent = await redeployed(23);
    told({ ...sent, state: 'cancelled' });
    await vi.waitFor(() => expect(endedDeployment.value?.state).toBe('cancelled'));
    expect(notices()).toEqual([]);
  });
});

it('an upload is said to be done or to have failed, and its model is no markup', async () => {
  models.loaded([model('1', { name: HOSTILE[0] ?? '' })]);
  here.show(<Notices />);
  notice('It is being uploaded.', 'good', 'mdl_1');
  endedUpload.value = { model_id: 'mdl_1', error: null };
  await settled('is uploaded and can be deployed.');
  expect(notices()).toHaveLength(1);
  endedUpload.value = { model_id: 'mdl_1', error: new Error('The file is too large.') };
  await settled('failed. The file is too large.');
  expect(notices()).toHaveLength(1);
  // A failure stays until it is closed.
  notice('It is being uploaded.', 'good', 'mdl_1');
  await settled('It is being uploaded.');
  expect(notices()).toHaveLength(2);
  expect(here.root.querySelector('img')).toBeNull();
});

it('a tab is called after what it shows, also if that is a login or nothing', async () => {
  here.show(<Login ended />);
  await vi.waitFor(() => expect(document.title).toBe('Log in – Link'));
  here.served.answers['/devices/dev_none'] = [404, { status: 404, detail: 'no such device' }];
  go('/devices/dev_none');
  here.show(<Page />);
  await vi.waitFor(() => expect(document.title).toBe('No such device – Link'));
});
