// What a model is called: two publishers may share models of one name, so pages tell them apart.

import { beforeEach, expect, it } from 'vitest';

import { deployments, deploymentsLoading, devices, devicesLoading, models, modelsLoading } from '../src/data/store';
import { DeploymentsPage } from '../src/pages/deployments/page';
import { Commands } from '../src/pages/device/commands';
import { Models } from '../src/pages/device/models';
import { ModelPage } from '../src/pages/catalogue/one';
import { ModelsPage } from '../src/pages/catalogue/page';
import { RepairsPage } from '../src/pages/repairs/page';
import { go } from '../src/ui/router';
import { deployment, device, model } from './fixtures';
import { place, settled } from './placed';

const here = place();
const READY = { state: 'ready', error: null } as const;
const COMMANDS = ['mdl_1', 'mdl_2'].map((id, at) => ({
  command_id: `cmd_${at}`, type: 'REPAIR_SERVING', state: 'sent', device_id: 'dev_a', model_id: id,
  created_at: '2026-11-20T00:00:00Z', expires_at: '2026-11-21T00:00:00Z',
}));

beforeEach(() => {
  here.served.answers['/commands'] = [200, { items: COMMANDS }];
  devices.loaded([device('a')]);
  models.loaded([model('1', { name: 'llama' }), model('2', { name: 'llama', owned: false, shared: true, publisher: 'north' })]);
  deployments.loaded([deployment('1', 'dev_a'), deployment('2', 'dev_a', { model_id: 'mdl_2' })]);
  deploymentsLoading.value = devicesLoading.value = modelsLoading.value = READY;
});

it.each([
  ['deployments', () => <DeploymentsPage />],
  ['repairs', () => <RepairsPage />],
  ['device', () => <Models device={device('a')} />],
  ['models', () => <ModelsPage />],
  ['device', () => <Commands deviceId="dev_a" />],
] as const)('is told apart on the page %s', async (address, page) => {
  go(`/${address}`);
  here.show(page());
  await settled('north/llama');
  const names = [...here.root.querySelectorAll('bdi')].map(({ textContent }) => textContent);
  expect(names).toContain('llama');
  expect(names).toContain('north/llama');
});

it('is the title of the page of the model, and is found by what is shown', async () => {
  go('/models/mdl_2');
  here.show(<ModelPage />);
  await settled('north/llama');
  expect(here.root.querySelector('h1')?.textContent).toBe('north/llama');
  go('/models?q=north/');
  here.show(<ModelsPage />);
  await settled('1 of 2');
  expect(here.root.querySelector('.list-rows .list-row')?.getAttribute('data-id')).toBe('mdl_2');
});
