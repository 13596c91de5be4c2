// Deploy, repair and remove for the selected devices, and a model for one device.

import { expect, it, vi } from 'vitest';

import { deployments, deploymentsLoading, devices, devicesLoading, me, models } from '../src/data/store';
import { DevicePage } from '../src/pages/device/page';
import { DevicesPage } from '../src/pages/devices/page';
import { Notices } from '../src/ui/notices';
import { go } from '../src/ui/router';
import { deployment, device, model } from './fixtures';
import { accessible, control, controls, OWNER, place, press, settled, type } from './placed';

const here = place();

async function open(): Promise<void> {
  go('/devices');
  devices.loaded([device('a'), device('b')]);
  models.loaded([model('1', { name: 'llama' })]);
  devicesLoading.value = { state: 'ready', error: null };
  here.show(<><DevicesPage /><Notices /></>);
  await vi.waitFor(() => expect(here.root.querySelector('.table-head input')).not.toBeNull());
  here.root.querySelector<HTMLInputElement>('.table-head input')?.click();
  await settled('2 selected');
}

it('has what is done most often first, and last what cannot be undone', async () => {
  await open();
  const buttons = [...here.root.querySelectorAll('.bulk .button:not(.quiet)')];
  expect(buttons.map((button) => button.textContent)).toEqual(['Deploy…', 'Repair…', 'Update…', 'Add tags…', 'Remove tags…', 'Remove…']);
  expect(buttons.filter((button) => button.classList.contains('danger')).map((button) => button.textContent)).toEqual(['Remove…']);
  expect(here.root.querySelector('.page-head .primary')?.textContent).toBe('Add a device');
});

it('deploys a model to the selected devices after a preview', async () => {
  await open();
  here.served.answers['/operations'] = [200, { work: {}, devices: 2, first: [] }];
  await press('Deploy…');
  await settled('Serve the model as soon as it is there');
  const hint = document.getElementById(document.querySelector('[name=serve]')?.getAttribute('aria-describedby') ?? '');
  expect(hint?.textContent).toContain('stays on the disk of the device');
  expect(document.querySelector('dialog')?.textContent).toContain('such as https://workspace.example');
  await accessible();
  await press('Preview');
  await settled('Deploy to 2 devices');
  expect(here.served.to('/operations')[0]?.body).toEqual({
    work: { kind: 'deploy', model_id: 'mdl_1', serve: true }, dry_run: true, devices: ['dev_a', 'dev_b'],
  });
});

it('repairs what is stale on the selected devices, and says if nothing is', async () => {
  await open();
  await press('Repair…');
  await settled('No model on these devices has a stale allowlist.');
  const removed = { state: 'removed', is_serving: false, port: 8080 } as const;
  deployments.loaded([
    deployment('1', 'dev_a', { stale: true }),
    deployment('2', 'dev_b'),
    deployment('3', 'dev_b', { stale: true, removed: true, serving: removed }),
  ]);
  here.served.answers['/operations'] = [200, { work: {}, devices: 1, first: [] }];
  await press('Repair…');
  await settled('Repair 1 deployment');
  expect(here.served.to('/operations')[0]?.body).toEqual({ work: { kind: 'repair', model_id: 'mdl_1' }, dry_run: true, devices: ['dev_a'] });
});

it('says that devices are updating where nothing else keeps it from acting on their models', async () => {
  await open();
  deployments.loaded([deployment('1', 'dev_a', { stale: true })]);
  for (const id of ['a', 'b']) devices.changed(device(id, { status: 'updating' }));
  for (const action of ['Repair…', 'Deploy…']) {
    await press(action);
    await settled('Nothing was started: every affected device is updating.');
    expect(here.root.querySelector('dialog')).toBeNull();
  }
});

it('says how many of the selected devices are updating and get no model', async () => {
  await open();
  devices.changed(device('c', { status: 'updating' }));
  await settled('3 devices');
  here.root.querySelector<HTMLInputElement>('.table-head input')?.click();
  await settled('3 selected');
  here.served.answers['/operations'] = [200, { work: {}, devices: 1, first: [] }];
  await press('Deploy…');
  await settled('1 device is updating and is left out.');
  await accessible();
  devices.changed(device('b', { status: 'updating' }));
  await press('Preview');
  await settled('Deploy to 1 device');
  await settled('2 devices are updating and are left out.');
  expect(here.served.to('/operations')[0]?.body).toMatchObject({ dry_run: true, devices: ['dev_a'] });
  expect(here.served.to('/deployments')).toEqual([]);
  await accessible();
});

it('removes the selected devices after what is lost was typed, and says which were not removed', async () => {
  await open();
  deployments.loaded([deployment('1', 'dev_a'), deployment('2', 'dev_a')]);
  here.served.answers['/devices/dev_a'] = [204, null];
  here.served.answers['/devices/dev_b'] = [409, { status: 409, detail: 'the device is being transferred' }];
  await press('Remove…');
  await settled('2 devices with 2 models will lose their place');
  await accessible();
  const button = (await control('Remove 2 devices')) as HTMLButtonElement;
  expect(button.disabled).toBe(true);
  await type('#remove-devices', 'remove 2');
  await vi.waitFor(() => expect(button.disabled).toBe(false));
  button.click();
  button.click();
  await settled('1 device was not removed. The device is being transferred.');
  expect(here.served.to('/devices/dev_a')).toHaveLength(1);
});

it('says how many devices are removed so far, and stops with its dialog', async () => {
  await open();
  const answers: ((answer: [number, unknown]) => void)[] = [];
  for (const id of ['a', 'b']) here.served.answers[`/devices/dev_${id}`] = () => new Promise((resolve) => answers.push(resolve));
  await press('Remove…');
  await type('#remove-devices', 'remove 2');
  const button = (await control('Remove 2 devices')) as HTMLButtonElement;
  await vi.waitFor(() => expect(button.disabled).toBe(false));
  button.click();
  await settled('0 of 2 attempted. To stop, close this dialog.');
  await accessible();
  document.querySelector<HTMLButtonElement>('dialog .dialog-foot .button')?.click();
  await vi.waitFor(() => expect(document.querySelector('dialog')).toBeNull());
  await press('Deploy…');
  await vi.waitFor(() => expect(document.querySelector('dialog')).not.toBeNull());
  answers[0]?.([204, null]);
  await settled('Stopped: 1 device left unchanged.');
  expect(document.querySelector('dialog')).not.toBeNull();
  expect(answers).toHaveLength(1);
});

it('has no actions for a viewer', async () => {
  me.value = { ...OWNER, role: 'viewer' };
  await open();
  expect(controls().filter((words) => words.endsWith('…') && !words.startsWith('Retire'))).toEqual([]);
});

it('deploys a model on the page of a device', async () => {
  devices.loaded([device('a')]);
  models.loaded([model('1', { name: 'llama' })]);
  deploymentsLoading.value = { state: 'ready', error: null };
  here.served.answers['/deployments'] = [202, deployment('7', 'dev_a', { model_id: 'mdl_1', state: 'queued' })];
  go('/devices/dev_a');
  here.show(<><DevicePage /><Notices /></>);
  await press('Deploy a model…');
  await accessible();
  await press('Deploy');
  await settled('llama is being deployed to a.');
  expect(here.served.to('/deployments')[0]?.body).toEqual({ model_id: 'mdl_1', device_id: 'dev_a', serve: true });
});
