// The page of one device: what its models do, and what each role may do to the device.

import { describe, expect, it } from 'vitest';

import { go } from '../src/app/router';
import { deployments, deploymentsLoading, devices, models } from '../src/data/store';
import type { Deployment } from '../src/data/types';
import { DevicePage } from '../src/pages/device/page';
import { DevicesPage } from '../src/pages/devices/page';
import { Notices } from '../src/ui/notices';
import { deployment, device, model } from './fixtures';
import { accessible, controls, place, press, settled } from './placed';

const here = place();

function open(tab = 'models'): void {
  go(`/devices/dev_a?tab=${tab}`);
  here.show(<><DevicePage /><Notices /></>);
}

function load(...all: Deployment[]): void {
  devices.loaded([device('a')]);
  models.loaded([model('1', { name: 'llama' }), model('2', { name: 'whisper' })]);
  deployments.loaded(all);
  deploymentsLoading.value = { state: 'ready', error: null };
}

const served = (state: 'starting' | 'stopping' | 'not_serving'): Partial<Deployment> => ({ serving: { state, is_serving: false, port: 8080 } });

describe('a model on a device', () => {
  it('is being loaded or stopped, and is not asked to do what it does', async () => {
    load(deployment('1', 'dev_a', served('starting')));
    open();
    await settled('Loading');
    expect(here.root.textContent).not.toContain('Not serving');
    expect(controls()).toContain('Stop');
    expect(controls()).not.toContain('Serve');
    await accessible();
    deployments.changed(deployment('1', 'dev_a', served('stopping')));
    await settled('Stopping');
    expect(here.root.textContent).not.toContain('Not serving');
    expect(controls()).not.toContain('Stop');
    expect(controls()).not.toContain('Serve');
    await accessible();
    deployments.changed(deployment('1', 'dev_a', served('not_serving')));
    await settled('Not serving');
    expect(controls()).toContain('Serve');
  });

  it('is not listed after it was removed, and is not lost with its device', async () => {
    load(deployment('1', 'dev_a'), deployment('2', 'dev_a', { serving: { state: 'removed', is_serving: false, port: 8080 } }));
    open();
    await settled('llama');
    expect(here.root.textContent).not.toContain('whisper');
    deployments.changed(deployment('1', 'dev_a', { serving: { state: 'removed', is_serving: false, port: 8080 } }));
    await settled('No model on this device');
    await accessible();
    open('about');
    await press('Remove the device…');
    await settled('The device has no models.');
  });

  it('does not count in the list of devices after it was removed', async () => {
    load(deployment('1', 'dev_a'), deployment('2', 'dev_a', { stale: true, serving: { state: 'removed', is_serving: false, port: 8080 } }));
    go('/devices');
    here.show(<DevicesPage />);
    await settled('model-1');
    expect(here.root.querySelector('.cell.models[role=cell]')?.textContent).toBe('model-1');
    await accessible();
  });
});
