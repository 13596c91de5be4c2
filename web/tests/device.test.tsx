// The page of one device: what its models do, and what each role may do to the device.

import { describe, expect, it, vi } from 'vitest';

import { deployments, deploymentsLoading, devices, devicesLoading, me, models } from '../src/data/store';
import type { Deployment, Role } from '../src/data/types';
import { DevicePage } from '../src/pages/device/page';
import { DevicesPage } from '../src/pages/devices/page';
import { Notices } from '../src/ui/notices';
import { go } from '../src/ui/router';
import { deployment, device, model } from './fixtures';
import { accessible, controls, OWNER, place, press, settled } from './placed';

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

describe('what a device is', () => {
  const sample = {
    reported_at: '2026-01-01T00:00:00Z', cpu_percent: 1, cpu_count: 2, memory: { used_bytes: 1, total_bytes: 2 },
    agent: { cpu_percent: 0, memory_bytes: 1 },
  };

  // Holds: S9-5
  it('has the label of the channel beside the version, and none for a production build', async () => {
    load();
    devices.loaded([device('a', { agent_version: '1.0.19', system: { ...sample, channel: 'alpha' } })]);
    open('about');
    await settled('1.0.19 · Alpha');
    here.show(<DevicesPage />);
    await settled('1.0.19 · Alpha');
    for (const system of [{ ...sample, channel: 'stable' as const }, sample, null]) {
      devices.loaded([device('a', { agent_version: '1.0.19', system })]);
      await settled('1.0.19');
      expect(here.root.textContent).not.toContain('1.0.19 ·');
    }
  });

  it('says over which transport its agent is connected, if the agent does', async () => {
    load();
    for (const [transport, words] of [['zenoh', 'Connected overzenoh'], ['http', 'Connected overHTTP']] as const) {
      devices.loaded([device('a', { system: { ...sample, transport } })]);
      open('about');
      await settled(words);
    }
    devices.loaded([device('a', { system: sample })]);
    await vi.waitFor(() => expect(here.root.textContent).not.toContain('Connected over'));
  });

  it('names the build of each engine, and why it was chosen', async () => {
    load();
    const builds = [
      { engine: 'llama-server', build: 'b10068', why: 'an accepted build for CUDA; passed over: b9789 needs avx512f' },
      { engine: 'whisper-server', build: 'v1.8.5' },
    ];
    devices.loaded([device('a', { system: { ...sample, builds } })]);
    open('about');
    await settled('b10068');
    expect(here.root.textContent).toContain('passed over: b9789 needs avx512f');
    expect(here.root.textContent).toContain('whisper-server');
    await accessible();
    devices.loaded([device('a', { system: sample })]);
    await settled('No engine is installed.');
  });
});

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

  it('has its address, its name and a line for a program, while it is served', async () => {
    load(
      deployment('1', 'dev_a', { alias: 'llama', task: 'chat', serving: { state: 'serving', is_serving: true, port: 8081 } }),
      deployment('2', 'dev_a', { alias: 'embed', task: 'embeddings', serving: { state: 'serving', is_serving: true, port: 8081 } }),
      deployment('3', 'dev_a', { alias: 'gone', ...served('not_serving') }),
    );
    open();
    await settled('Use these models from a program');
    document.querySelector<HTMLDetailsElement>('.from-programs')?.setAttribute('open', '');
    expect(document.querySelector('.from-programs dl')?.textContent).toBe('http://127.0.0.1:8081/v1llama, embed');
    expect(document.querySelector('.from-programs pre')?.textContent).toBe(
      `curl http://127.0.0.1:8081/v1/chat/completions -H 'content-type: application/json' -d '{"model":"llama","messages":[{"role":"user","content":"Hello!"}]}'`,
    );
    await accessible();
    for (const id of ['1', '2']) deployments.changed(deployment(id, 'dev_a', served('not_serving')));
    await vi.waitFor(() => expect(document.querySelector('.from-programs')).toBeNull());
  });

  it('is not listed after it was removed, and is not lost with its device', async () => {
    load(deployment('1', 'dev_a'), deployment('2', 'dev_a', { removed: true, serving: { state: 'removed', is_serving: false, port: 8080 } }));
    open();
    await settled('llama');
    expect(here.root.textContent).not.toContain('whisper');
    deployments.changed(deployment('1', 'dev_a', { removed: true, serving: { state: 'removed', is_serving: false, port: 8080 } }));
    await settled('No model on this device');
    await accessible();
    open('about');
    await press('Remove the device…');
    await settled('The device has no models.');
  });

  it('does not count in the list of devices after it was removed', async () => {
    load(deployment('1', 'dev_a'), deployment('2', 'dev_a', { stale: true, removed: true, serving: { state: 'removed', is_serving: false, port: 8080 } }));
    go('/devices');
    here.show(<DevicesPage />);
    await settled('model-1');
    expect(here.root.querySelector('.cell.models[role=cell]')?.textContent).toBe('model-1');
    await accessible();
  });
});

describe('the tags of a device', () => {
  it('stand at its head, the first of many, with a link to the rest', async () => {
    load(deployment('1', 'dev_a'));
    devices.loaded([device('a', { tags: Array.from({ length: 9 }, (_, at) => `a-rather-long-tag-${at}`) })]);
    open();
    await settled('+3 tags');
    const head = here.root.querySelector('.device-head .whole-tags');
    expect(head?.querySelectorAll('.tag')).toHaveLength(6);
    const rest = head?.querySelector('a');
    expect(rest?.getAttribute('href')).toBe('/devices/dev_a?tab=about');
    expect(rest?.title).toBe('a-rather-long-tag-6, a-rather-long-tag-7, a-rather-long-tag-8');
    await accessible();
    // The link leads to where all of them are, and is not there.
    rest?.addEventListener('click', (event) => event.preventDefault());
    rest?.focus();
    rest?.click();
    go('/devices/dev_a?tab=about');
    await vi.waitFor(() => expect(head?.querySelectorAll('.tag')).toHaveLength(9));
    expect(head?.querySelector('a')).toBeNull();
    expect(document.activeElement).toBe(head);
    await accessible();
    devices.loaded([device('a', { tags: Array.from({ length: 7 }, (_, at) => `tag-${at}`) })]);
    open();
    await settled('+1 tag');
  });
});

describe('the controls of a role', () => {
  const tagged = device('a', { tags: ['lab'] });
  const loggedIn = (role: Role): void => {
    load(deployment('1', 'dev_a'));
    devices.loaded([tagged]);
    devicesLoading.value = { state: 'ready', error: null };
    me.value = { ...OWNER, role };
  };

  it.each([
    ['viewer', []],
    ['operator', ['Update…', 'Deploy a model…', 'Stop', 'Repair']],
  ] as const)('of a %s on the page of a device', async (role, expected) => {
    loggedIn(role);
    open();
    await settled('llama');
    expect(controls().filter((words) => words !== '')).toEqual(expected);
    expect(here.root.querySelector('.model [role=group]') === null).toBe(role === 'viewer');
    await accessible();
  });

  it('let a viewer read what a device is, and an operator change all but its place in the account', async () => {
    loggedIn('viewer');
    open('about');
    await settled('lab');
    expect(here.root.querySelector('form, .danger-zone')).toBeNull();
    expect(controls().filter((words) => words !== '')).toEqual([]);
    await accessible();
    me.value = { ...OWNER, role: 'operator' };
    await vi.waitFor(() => expect(controls()).toContain('Rename'));
    expect(here.root.querySelector('.danger-zone')).toBeNull();
    await accessible();
    me.value = { ...OWNER, role: 'admin' };
    await vi.waitFor(() => expect(controls()).toContain('Remove the device…'));
  });

  it('go when a refusal says that the role was lowered', async () => {
    loggedIn('owner');
    here.served.answers['/devices/dev_a'] = [403, { status: 403, detail: 'the role viewer lacks devices:operate' }];
    here.served.answers['/me'] = [200, { ...OWNER, role: 'viewer' }];
    open('about');
    await press('Rename');
    await settled('The role viewer lacks devices:operate.');
    await vi.waitFor(() => expect(controls()).not.toContain('Rename'));
    expect(controls()).not.toContain('Update…');
  });

  it('of a viewer in the list of devices are none, and the bar says why', async () => {
    loggedIn('viewer');
    go('/devices');
    here.show(<DevicesPage />);
    await settled('1 device');
    expect(here.root.querySelector('[href="/devices/add"]')).toBeNull();
    here.root.querySelector<HTMLInputElement>('.table-head input')?.click();
    await settled('Your role can read devices but not change them.');
    await accessible();
    me.value = { ...OWNER, role: 'operator' };
    await vi.waitFor(() => expect(controls()).toContain('Update…'));
    expect(here.root.textContent).not.toContain('Your role can');
    devices.removed('dev_a');
    await settled('Ask an owner or an admin of the account for a key.');
    expect(here.root.querySelector('[href="/devices/add"]')).toBeNull();
    await accessible();
  });
});

it('names the memory of a graphics processor, also if only the whole is known', async () => {
  load();
  const memory = { used_bytes: 1e9, total_bytes: 2e9 };
  const gpus = [
    { name: 'one', memory_total_bytes: 24e9 },
    { name: 'two', memory_total_bytes: 8e9, memory_used_bytes: 0 },
    { name: 'three' },
  ];
  const agent = { cpu_percent: 1, memory_bytes: 1e7 };
  devices.loaded([device('a', { system: { reported_at: '2026-11-20T00:00:00Z', cpu_count: 4, cpu_percent: 10, memory, gpus, agent } })]);
  open('about');
  await settled('one24.0 GB of memory');
  await settled('two0 B of 8.0 GB');
  expect(here.root.textContent).toContain('threeAgent');
  await accessible();
});
