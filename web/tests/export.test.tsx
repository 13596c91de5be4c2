// Files of what lists show: never one that lacks rows, and exactly the rows that the filter shows.

import { describe, expect, it, vi } from 'vitest';

import { Problem } from '../src/data/problem';
import { deployments, deploymentsLoading, devices, devicesLoading, models, modelsLoading, type Loading } from '../src/data/store';
import { DeploymentsPage } from '../src/pages/deployments/page';
import { DevicesPage } from '../src/pages/devices/page';
import { Notices } from '../src/ui/notices';
import { go } from '../src/ui/router';
import { deployment, device, HOSTILE, model } from './fixtures';
import { accessible, control, place, press, settled } from './placed';

const here = place();
const saved: string[] = [];
vi.mock('../src/ui/download', () => ({ download: (_name: string, _type: string, content: string) => saved.push(content) }));

const READY: Loading = { state: 'ready', error: null };
const FAILED: Loading = { state: 'failed', error: new Problem(503, { detail: 'the backend is overloaded' }) };
const button = (): Promise<HTMLElement> => control('Export CSV');
const ids = (): string[] => (saved.at(-1) ?? '').trim().split('\r\n').slice(1).map((line) => line.split(',')[0] ?? '');

/** Expects a button that saves nothing and says why: to a pointer, to a screen reader, and after a press. */
async function refuses(reason: string): Promise<void> {
  saved.length = 0;
  await vi.waitFor(async () => expect((await button()).title).toContain(reason));
  const one = await button();
  expect(one.getAttribute('aria-disabled')).toBe('true');
  expect(document.getElementById(one.getAttribute('aria-describedby') ?? '')?.textContent).toContain(reason);
  await accessible();
  one.click();
  await vi.waitFor(() => expect(document.querySelector('.notices')?.textContent).toContain(reason));
  expect(saved).toEqual([]);
}

async function allows(): Promise<void> {
  await vi.waitFor(async () => expect((await button()).hasAttribute('aria-disabled')).toBe(false));
  expect((await button()).title).toBe('');
  await accessible();
}

describe('the file of the devices', () => {
  const open = (address = '/devices'): void => {
    go(address);
    here.show(<><DevicesPage /><Notices /></>);
  };

  it('is not there before the list and the models on it are complete', async () => {
    devices.loaded([device('a')]);
    devicesLoading.value = { state: 'loading', error: null };
    deploymentsLoading.value = READY;
    open();
    await settled('1 device');
    await refuses('still loading');
    devicesLoading.value = READY;
    deploymentsLoading.value = { state: 'loading', error: null };
    await refuses('still loading');
    deploymentsLoading.value = READY;
    await allows();
    devicesLoading.value = { state: 'refreshing', error: null };
    await allows();
    devicesLoading.value = FAILED;
    await refuses('could not be loaded completely');
  });

  it('has the rows that the filter shows, also those that came this moment', async () => {
    devices.loaded([device('a'), device('b', { online: false })]);
    deployments.loaded([deployment('1', 'dev_b')]);
    devicesLoading.value = deploymentsLoading.value = READY;
    open('/devices?select=state%3Doffline');
    await settled('1 of 2 devices');
    devices.changed(device('c', { online: false }));
    await press('Export CSV');
    expect(ids()).toEqual(['dev_b', 'dev_c']);
    expect(saved.at(-1)).toContain('model-1');
    go('/devices?q=nothing+fits');
    await refuses('nothing to export');
  });
});

describe('the file of the deployments', () => {
  const open = (address = '/deployments'): void => {
    go(address);
    here.show(<><DeploymentsPage /><Notices /></>);
  };
  const load = (): void => {
    devices.loaded([device('a'), device('b')]);
    models.loaded([model('1', { name: 'llama' }), model('2', { name: 'whisper' })]);
    deployments.loaded([
      deployment('1', 'dev_a', { port: 8080, serving: { state: 'serving', is_serving: true, port: 9090 } }),
      deployment('2', 'dev_b', { state: 'failed', serving: null, reason: 'no space left, really' }),
      deployment('3', 'dev_b', { model_id: 'mdl_1', stale: true }),
      deployment('4', 'dev_a', { model_id: 'mdl_2', removed: true, serving: { state: 'removed', is_serving: false, port: 1 } }),
    ]);
    devicesLoading.value = deploymentsLoading.value = modelsLoading.value = READY;
  };

  it('has the rows of the page in their order, without removed models', async () => {
    load();
    open();
    await settled('3 deployments');
    await allows();
    await press('Export CSV');
    expect(saved.at(-1)?.split('\r\n').slice(0, 4)).toEqual([
      'deployment_id,model_id,model_name,publisher,device_id,device_name,alias,port,state,reason,stale,serving,created_at,updated_at',
      'dpl_3,mdl_1,llama,,dev_b,b,model-3,8080,completed,,true,serving,2026-11-01T00:00:00Z,2026-11-01T00:00:00Z',
      'dpl_2,mdl_2,whisper,,dev_b,b,model-2,8080,failed,"no space left, really",false,,2026-11-01T00:00:00Z,2026-11-01T00:00:00Z',
      'dpl_1,mdl_1,llama,,dev_a,a,model-1,9090,completed,,false,serving,2026-11-01T00:00:00Z,2026-11-01T00:00:00Z',
    ]);
  });

  it.each([
    ['q=whisper', ['dpl_2']],
    ['state=serving', ['dpl_3', 'dpl_1']],
    ['model_id=mdl_1&device_id=dev_a', ['dpl_1']],
    ['model_id=mdl_1&sort=-device', ['dpl_3', 'dpl_1']],
  ])('is what %s shows', async (filter, expected) => {
    load();
    open(`/deployments?${filter}`);
    await settled(filter.includes('model_id=mdl_1&device') ? '1 of 3' : `${expected.length} of 3`);
    await press('Export CSV');
    expect(ids()).toEqual(expected);
  });

  it('is not there before the names in it are complete, and not for an empty page', async () => {
    load();
    modelsLoading.value = { state: 'loading', error: null };
    open();
    await settled('3 deployments');
    await refuses('still loading');
    modelsLoading.value = READY;
    await allows();
    go('/deployments?q=nothing+fits');
    await refuses('nothing to export');
  });

  it('has no formula and no cell of its own from a hostile name', async () => {
    load();
    devices.loaded(HOSTILE.map((name, index) => device(String(index), { name })));
    deployments.loaded(HOSTILE.map((name, index) => deployment(String(index), `dev_${index}`, { state: 'failed', reason: name })));
    open();
    await settled(`${HOSTILE.length} deployments`);
    await press('Export CSV');
    expect(saved.at(-1)).toContain('"\'=1+1"');
    expect(saved.at(-1)).not.toMatch(/(^|,)"?=1\+1/m);
  });
});
