// What comes and goes while somebody is at it: a device that flaps, rows that leave a list by themselves. Neither a dialog nor the
// focus goes with it, and a screen reader is not told without end.

import { describe, expect, it, vi } from 'vitest';

import { deployments, deploymentsLoading, devices, devicesLoading, models } from '../src/data/store';
import { DeploymentsPage } from '../src/pages/deployments/page';
import { DevicePage } from '../src/pages/device/page';
import { DevicesPage } from '../src/pages/devices/page';
import { go } from '../src/ui/router';
import { deployment, device, model } from './fixtures';
import { accessible, control, controls, place, press, settled, type } from './placed';

vi.setConfig({ testTimeout: 30_000 });

const here = place();
const READY = { state: 'ready', error: null } as const;
const flap = (id: string, online: boolean): void => devices.changed(device(id, { online }));
const drawn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 600));
const dialog = (): Element | null => document.querySelector('dialog');

describe('the page of a device that flaps', () => {
  function open(): void {
    devices.loaded([device('a')]);
    models.loaded([model('1', { name: 'llama' })]);
    deployments.loaded([deployment('1', 'dev_a')]);
    deploymentsLoading.value = READY;
    go('/devices/dev_a');
    here.show(<DevicePage />);
  }

  it('keeps the button that has the focus, which waits and says why', async () => {
    open();
    const repair = await control('Repair');
    repair.focus();
    const before = controls();
    flap('a', false);
    await vi.waitFor(() => expect(repair.getAttribute('aria-disabled')).toBe('true'));
    expect(controls()).toEqual(before);
    expect(document.activeElement).toBe(repair);
    const why = document.getElementById(repair.getAttribute('aria-describedby') ?? '');
    expect(why?.textContent).toContain('once it is back');
    repair.click();
    await drawn();
    expect(here.served.to('/models/mdl_1/repair-serving/dev_a')).toEqual([]);
    await accessible();
    flap('a', true);
    await vi.waitFor(() => expect(repair.hasAttribute('aria-disabled')).toBe(false));
    expect(document.activeElement).toBe(repair);
  });

  it('takes a place for the reason only once it has lasted', async () => {
    open();
    await control('Repair');
    const mentioned = (): boolean => document.querySelector('.tab-body .banner') !== null;
    flap('a', false);
    await settled('once it is back');
    expect(mentioned()).toBe(false);
    await vi.waitFor(() => expect(mentioned()).toBe(true), { timeout: 6_000 });
    flap('a', true);
    await vi.waitFor(() => expect(mentioned()).toBe(false));
    flap('a', false);
    await settled('once it is back');
    expect(mentioned()).toBe(false);
  });
});

describe('many models on a device', () => {
  it('are found by name, which is in the address', async () => {
    const ids = Array.from({ length: 30 }, (_, at) => String(at));
    devices.loaded([device('a')]);
    models.loaded(ids.map((id) => model(id, { name: `llama-${id}` })));
    deployments.loaded(ids.map((id) => deployment(id, 'dev_a')));
    deploymentsLoading.value = READY;
    go('/devices/dev_a');
    here.show(<DevicePage />);
    await settled('30 models');
    await type('input[type=search]', 'Llama-17');
    await settled('1 of 30');
    expect([...document.querySelectorAll('.model-name')].map(({ textContent }) => textContent)).toEqual(['llama-17']);
    expect(location.search).toBe('?q=Llama-17');
    await accessible();
    await type('input[type=search]', 'none');
    await settled('Nothing matches');
    await press('Clear all');
    await vi.waitFor(() => expect(document.querySelectorAll('.model')).toHaveLength(30));
  });

  it('need no search while they are few', async () => {
    devices.loaded([device('a')]);
    models.loaded([model('1')]);
    deployments.loaded([deployment('1', 'dev_a')]);
    deploymentsLoading.value = READY;
    go('/devices/dev_a');
    here.show(<DevicePage />);
    await control('Repair');
    expect(document.querySelector('input[type=search]')).toBeNull();
  });
});

describe('the list of devices', () => {
  function open(address: string): void {
    devices.loaded([device('a', { online: false }), device('b', { online: false })]);
    devicesLoading.value = READY;
    go(address);
    here.show(<main id="content" tabIndex={-1}><DevicesPage /></main>);
  }

  it.each([['Add tags…', '#bulk-words'], ['Remove…', '#remove-devices']])('keeps the dialog of %s when what was ticked leaves the list', async (button, field) => {
    open('/devices?select=state%3Doffline');
    (await vi.waitFor(() => document.querySelector<HTMLInputElement>('[aria-label="Select a"]') as HTMLInputElement)).click();
    await press(button);
    await type(field, 'typed');
    flap('a', true);
    await settled('1 of 2 devices');
    expect(dialog()?.querySelector<HTMLInputElement>(field)?.value).toBe('typed');
    (dialog()?.querySelector('.dialog-foot button') as HTMLElement).click();
    await vi.waitFor(() => expect(document.querySelector('.bulk')).toBeNull());
  });

  it('takes the focus of a row that leaves it, and leaves it to the page', async () => {
    open('/devices?select=state%3Doffline');
    (await vi.waitFor(() => document.querySelector<HTMLInputElement>('[aria-label="Select a"]') as HTMLInputElement)).focus();
    flap('a', true);
    await settled('1 of 2 devices');
    await vi.waitFor(() => expect(document.activeElement?.getAttribute('role')).toBe('table'));
    flap('b', true);
    await settled('No device matches');
    expect(document.activeElement?.id).toBe('content');
  });

  it('says its count at once to whoever filters, and only now and then what comes by itself', async () => {
    open('/devices?select=state%3Doffline');
    const count = (): string | null | undefined => document.querySelector('.page-head [role=status]')?.textContent;
    await vi.waitFor(() => expect(count()).toBe('2 of 2 devices'));
    flap('a', true);
    await vi.waitFor(() => expect(count()).toBe('1 of 2 devices'));
    flap('a', false);
    await vi.waitFor(() => expect(document.querySelectorAll('.device-row[data-state]')).toHaveLength(2));
    expect(count()).toBe('1 of 2 devices');
    go('/devices?select=state%3Doffline&q=b');
    await vi.waitFor(() => expect(count()).toBe('1 of 2 devices'));
    go('/devices?select=state%3Doffline');
    await vi.waitFor(() => expect(count()).toBe('2 of 2 devices'));
    flap('a', true);
    await drawn();
    expect(count()).toBe('2 of 2 devices');
    await vi.waitFor(() => expect(count()).toBe('1 of 2 devices'), { timeout: 7_000 });
  });
});

describe('the list of deployments', () => {
  it('keeps the dialog when what was ticked leaves the list', async () => {
    devices.loaded([device('a')]);
    models.loaded([model('1'), model('2')]);
    const under = { state: 'downloading', serving: null } as const;
    deployments.loaded([deployment('1', 'dev_a', under), deployment('2', 'dev_a', under)]);
    deploymentsLoading.value = READY;
    go('/deployments?state=progress');
    here.show(<DeploymentsPage />);
    (await vi.waitFor(() => document.querySelector<HTMLInputElement>('.list-rows input') as HTMLInputElement)).click();
    await press('Cancel…');
    await vi.waitFor(() => expect(dialog()).not.toBeNull());
    const [first] = [...document.querySelectorAll('.list-rows [data-id]')];
    deployments.changed(deployment(first?.getAttribute('data-id') === 'dpl_1' ? '1' : '2', 'dev_a'));
    await settled('1 of 2');
    expect(dialog()).not.toBeNull();
  });
});
