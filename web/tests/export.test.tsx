// Files of what lists show: never one that lacks rows, and exactly the rows that the filter shows.

import { describe, expect, it, vi } from 'vitest';

import { go } from '../src/app/router';
import { Problem } from '../src/data/problem';
import { deployments, deploymentsLoading, devices, devicesLoading, type Loading } from '../src/data/store';
import { DevicesPage } from '../src/pages/devices/page';
import { Notices } from '../src/ui/notices';
import { deployment, device } from './fixtures';
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
