// The settings of a plugin: the table fits the plugins of the release, a value is checked before it is sent, only a change
// is sent, and a refusal stands at its field.

import { readFileSync } from 'node:fs';

import { describe, expect, it, vi } from 'vitest';

import { gather, linesOf, refusedSetting, SETTINGS, typedOf, valueOf, written, type Setting } from '../src/data/settings';
import { deployments, deploymentsLoading, devices, devicesLoading, models, modelsLoading } from '../src/data/store';
import type { Deployment } from '../src/data/types';
import { Models } from '../src/pages/device/models';
import { DeployDialog } from '../src/ui/deploy';
import { Notices } from '../src/ui/notices';
import { deployment, device, model } from './fixtures';
import { accessible, place, press, pressInMenu, settled, type } from './placed';

vi.setConfig({ testTimeout: 30_000 });

const here = place();
const REASON = 'the setting `context` of the plugin `language_model` takes a whole number from 256 to 4194304, not 7';

function load(more: Partial<Deployment> = {}, plugin = 'language_model'): void {
  devices.loaded([device('a'), device('b')]);
  models.loaded([model('1', { name: 'llama', plugin })]);
  deployments.loaded([deployment('1', 'dev_a', more)]);
  for (const loading of [devicesLoading, modelsLoading, deploymentsLoading]) loading.value = { state: 'ready', error: null };
  here.served.answers['/deployments'] = [202, deployment('7', 'dev_a', { model_id: 'mdl_1', state: 'queued' })];
}

function open(targets: string[] | null = ['dev_a']): void {
  here.show(<><DeployDialog model="mdl_1" {...(targets ? { targets } : {})} close={() => here.show(<Notices />)} /><Notices /></>);
}

async function field(label: string): Promise<HTMLInputElement> {
  return vi.waitFor(() => {
    const found = [...document.querySelectorAll<HTMLInputElement>('.plugin-settings input, .plugin-settings select, .plugin-settings textarea')];
    const one = found.find((input) => input.labels?.[0]?.textContent?.trim() === label);
    if (!one) throw new Error(`there is no field ${label}`);
    return one;
  });
}

async function fill(label: string, words: string): Promise<void> {
  const one = await field(label);
  one.value = words;
  one.dispatchEvent(new Event(one.tagName === 'SELECT' ? 'change' : 'input', { bubbles: true }));
  await vi.waitFor(async () => expect((await field(label)).value).toBe(words));
}

const faultAt = async (label: string): Promise<string> => {
  const one = await field(label);
  const [id = ''] = (one.getAttribute('aria-describedby') ?? '').split(' ');
  return one.getAttribute('aria-invalid') === 'true' ? (document.getElementById(id)?.textContent ?? '') : '';
};
const bodies = (): unknown[] => here.served.to('/deployments').map(({ body }) => body);

interface Schema {
  properties: { components: { properties: Record<string, { properties?: Record<string, Record<string, unknown>> }> } };
}

it('are those of the plugins of the release, with types, bounds and defaults', () => {
  const { properties } = JSON.parse(readFileSync('../docs/agent.schema.json', 'utf8')) as Schema;
  const plugins = readdir();
  for (const plugin of plugins) {
    const offered = Object.entries(properties.components.properties[plugin]?.properties ?? {}).map(([name, schema]) => settingOf(name, schema));
    const known = [...(SETTINGS[plugin] ?? [])];
    expect(known.sort((a, b) => a.name.localeCompare(b.name)), plugin).toEqual(offered.sort((a, b) => a.name.localeCompare(b.name)));
  }
  expect(Object.keys(SETTINGS).sort()).toEqual(plugins.sort());

  function readdir(): string[] {
    return Object.entries(properties.components.properties).filter(([, { properties: all }]) => all?.['threads']).map(([name]) => name);
  }
  function settingOf(name: string, schema: Record<string, unknown>): Setting {
    const usual = schema['default'] === undefined ? {} : { usual: schema['default'] };
    if (schema['enum']) return { name, type: 'choice', choices: schema['enum'] as string[], ...usual } as Setting;
    if (schema['type'] === 'boolean') return { name, type: 'flag', ...usual } as Setting;
    return { name, type: 'integer', min: schema['minimum'] as number, max: schema['maximum'] as number, ...usual } as Setting;
  }
});

describe('a value', () => {
  const threads: Setting = { name: 'threads', type: 'integer', min: 1, max: 8 };
  const flag: Setting = { name: 'f', type: 'flag' };
  const choice: Setting = { name: 'c', type: 'choice', choices: ['de', '1'] };
  it.each([
    [threads, '', {}], [threads, ' 4 ', { value: 4 }], [threads, '0', { fault: 'number' }], [threads, '9', { fault: 'number' }],
    [threads, '1.5', { fault: 'number' }], [threads, '1e3', { fault: 'number' }], [threads, '-1', { fault: 'number' }], [threads, '٤', { fault: 'number' }],
    [flag, 'true', { value: true }], [flag, 'yes', { fault: 'choice' }],
    [choice, '1', { value: '1' }], [choice, 'fr', { fault: 'choice' }],
  ] as const)('of %j: %j', (setting, typed, read) => {
    expect(valueOf(setting, typed)).toEqual(read);
  });

  it.each([
    ['a=1\n\nb=true\nc=x-y', { values: { a: 1, b: true, c: 'x-y' } }],
    ['a', { fault: 'form', at: 'a' }], ['A=1', { fault: 'form' }], ['a=$(id)', { fault: 'form' }], ['a=b=c', { fault: 'form' }],
    ['a=1\na=2', { fault: 'twice', at: 'a' }], ['__proto__=1', { fault: 'form' }],
  ])('in lines: %j', (typed, read) => {
    expect(linesOf(typed)).toMatchObject(read);
  });

  it('of the deployment stays as it is unless something was changed', () => {
    const before = typedOf('language_model', { context: 512, newer: 'x' });
    expect(before).toEqual({ fields: { context: '512' }, others: 'newer=x' });
    expect(gather('language_model', before, before)).toEqual({ faults: {} });
    expect(gather('language_model', { ...before, fields: { context: '' } }, before)).toEqual({ faults: {}, settings: { newer: 'x' } });
    expect(gather('language_model', before, before, true).settings).toEqual({ context: 512, newer: 'x' });
    expect(written({ context: 512, on: true })).toEqual(['context=512', 'on=true']);
  });

  it('that is refused is found in the words of the refusal', () => {
    expect(refusedSetting(REASON)?.name).toBe('context');
    expect(refusedSetting('the plugin `p` has no setting `gpu`; it has none')?.name).toBe('gpu');
    expect(refusedSetting('the disk is full')).toBeNull();
  });
});

describe('the dialog', () => {
  it('checks a value before it is sent, at its field, and sends only what was changed', async () => {
    load();
    open();
    await settled('Settings of the plugin');
    expect((await field('Context')).placeholder).toBe('4096');
    await accessible();
    await fill('Context', '255');
    await press('Deploy');
    await settled('Type a whole number from 256 to 4,194,304.');
    expect(await faultAt('Context')).toBe('Type a whole number from 256 to 4,194,304.');
    await vi.waitFor(async () => expect(document.activeElement).toBe(await field('Context')));
    expect(bodies()).toEqual([]);
    await accessible();
    await fill('Context', '8192');
    expect(await faultAt('Context')).toBe('');
    await press('Deploy');
    await settled('llama is being deployed to a.');
    expect(bodies()).toEqual([{ model_id: 'mdl_1', device_id: 'dev_a', serve: true, settings: { context: 8192 } }]);
  });

  it('has the settings of the deployment, and sends none if none was changed', async () => {
    load({ settings: { context: 512 } });
    open();
    await settled('These are the settings of the deployment.');
    expect((await field('Context')).value).toBe('512');
    await press('Deploy');
    await settled('llama is being deployed to a.');
    expect(bodies()).toEqual([{ model_id: 'mdl_1', device_id: 'dev_a', serve: true }]);
  });

  it('sends all that stay if one is taken away, and nothing but an empty set if all are', async () => {
    load({ settings: { context: 512, newer: 'x' } });
    open();
    await fill('Context', '');
    await fill('Threads', '2');
    await fill('Other settings', '');
    await press('Deploy');
    await settled('llama is being deployed to a.');
    expect(bodies()).toEqual([{ model_id: 'mdl_1', device_id: 'dev_a', serve: true, settings: { threads: 2 } }]);
  });

  it('shows a refusal of the backend at its field, and keeps what was typed', async () => {
    load();
    here.served.answers['/deployments'] = [422, { status: 422, code: 'invalid-request', detail: 'the value of the setting `threads` must be a whole number' }];
    open();
    await fill('Threads', '2');
    await press('Deploy');
    await settled('The value of the setting threads must be a whole number.');
    expect(await faultAt('Threads')).toContain('The value of the setting threads');
    expect((await field('Threads')).value).toBe('2');
    await accessible();
  });

  it('shows at its field what the device refused, and a setting that the plugin does not have among the others', async () => {
    load({ state: 'failed', reason: REASON, settings: { context: 7 } });
    open();
    await vi.waitFor(async () => expect(await faultAt('Context')).toContain('takes a whole number from 256'));
    await accessible();
    load({ state: 'failed', reason: 'the plugin `language_model` has no setting `gpu`; it has context, threads', settings: { gpu: 1 } });
    await vi.waitFor(async () => expect(await faultAt('Other settings')).toContain('has no setting gpu'));
    expect((await field('Other settings')).value).toBe('gpu=1');
  });

  it('tells who changes a setting that somebody else has changed meanwhile, and replaces it only when asked again', async () => {
    load({ settings: { context: 4096, threads: 2 } });
    open();
    await fill('Context', '8192');
    deployments.changed(deployment('9', 'dev_a', { model_id: 'mdl_1', settings: { context: 2048, threads: 4 } }));
    deployments.removed('dpl_1');
    await vi.waitFor(async () => expect((await field('Threads')).value).toBe('4'));
    await press('Deploy');
    await vi.waitFor(async () => expect(await faultAt('Context')).toContain('since changed this to 2048'));
    await accessible();
    expect(bodies()).toEqual([]);
    await press('Deploy');
    await vi.waitFor(() => expect(bodies()).toMatchObject([{ settings: { context: 8192, threads: 4 } }]));
  });

  it('does not tell of a change to what was typed, or of other settings', async () => {
    load({ settings: { context: 4096, threads: 2 } });
    open();
    await fill('Context', '8192');
    deployments.changed(deployment('1', 'dev_a', { settings: { context: 8192, threads: 4 } }));
    await vi.waitFor(async () => expect((await field('Threads')).value).toBe('4'));
    await fill('Threads', '6');
    await press('Deploy');
    await vi.waitFor(() => expect(bodies()).toMatchObject([{ settings: { context: 8192, threads: 6 } }]));
  });

  it('takes lines for a plugin that is not of this release', async () => {
    load({}, 'ocr');
    open();
    await fill('Other settings', 'lang');
    await press('Deploy');
    await settled('Type NAME=VALUE in each line');
    await accessible();
    await fill('Other settings', 'lang=de\ndpi=300');
    await press('Deploy');
    await settled('llama is being deployed to a.');
    expect(bodies()).toMatchObject([{ settings: { lang: 'de', dpi: 300 } }]);
  });

  it('keeps what was typed when more devices are chosen, and drops what they have on request', async () => {
    load({ settings: { context: 512 } });
    here.served.answers['/operations'] = [200, { work: {}, devices: 2, first: [] }];
    open(null);
    await settled('0 chosen');
    const [first, second] = document.querySelectorAll<HTMLInputElement>('.picker li input');
    first?.click();
    await settled('1 chosen');
    await fill('Threads', '3');
    second?.click();
    await settled('2 chosen');
    expect((await field('Threads')).value).toBe('3');
    expect((await field('Context')).value).toBe('');
    await fill('Threads', '');
    [...document.querySelectorAll<HTMLLabelElement>('.plugin-settings .check-line')].at(-1)?.querySelector('input')?.click();
    await accessible();
    await press('Preview');
    await settled('Deploy to 2 devices');
    expect(here.served.to('/operations')[0]?.body).toMatchObject({ work: { kind: 'deploy', settings: {} } });
  });

  it('has the choices of a plugin, with the usual one said', async () => {
    load({}, 'audio_transcriber');
    open();
    const languages = await field('Language');
    expect(languages.querySelector('option')?.textContent).toBe('auto, unless the device is set up otherwise');
    await fill('Language', 'de');
    await type('input[name=port]', '9001');
    await press('Deploy');
    await settled('llama is being deployed to a.');
    expect(bodies()).toMatchObject([{ port: 9001, settings: { language: 'de' } }]);
  });
});

it('stand in the row of the deployment, with a button that opens them', async () => {
  load({ settings: { context: 512 } });
  here.show(<Models device={device('a')} />);
  await settled('context=512');
  await pressInMenu('Settings…');
  await settled('llama on a');
  expect((await field('Context')).value).toBe('512');
  await accessible();
});

describe('the dialog behind Settings…', () => {
  it.each([
    ['one that is served', { serving: { state: 'serving', is_serving: true, port: 8080 } }, true],
    ['one that is being loaded', { serving: { state: 'starting', is_serving: false, port: 8080 } }, true],
    ['one that is being stopped', { serving: { state: 'stopping', is_serving: true, port: 8080 } }, false],
    ['one that somebody has stopped', { serving: { state: 'not_serving', is_serving: false, port: 8080 } }, false],
    ['one that the device has given up', { serving: { state: 'not_serving', is_serving: false, port: 8080, detail: 'too little memory' } }, true],
  ] as const)('has the settings of %s open, and leaves it as it is', async (_, more, serves) => {
    load(more);
    here.show(<Models device={device('a')} />);
    await pressInMenu('Settings…');
    await settled('Settings of llama');
    const settings = document.querySelector<HTMLDetailsElement>('.plugin-settings');
    expect(settings?.open).toBe(true);
    await vi.waitFor(() => expect(settings?.contains(document.activeElement)).toBe(true));
    expect(document.querySelector<HTMLInputElement>('[name=serve]')?.checked).toBe(serves);
    await accessible();
    await press('Redeploy with these settings');
    await vi.waitFor(() => expect(bodies()).toHaveLength(1));
    expect(bodies()[0]).toMatchObject({ model_id: 'mdl_1', device_id: 'dev_a', serve: serves });
  });

  it('stays open while somebody else redeploys the model, and tells what they have changed', async () => {
    load({ settings: { context: 4096 } });
    here.show(<Models device={device('a')} />);
    await pressInMenu('Settings…');
    await fill('Context', '8192');
    deployments.changed(deployment('9', 'dev_a', { model_id: 'mdl_1', settings: { context: 2048 } }));
    deployments.removed('dpl_1');
    // At once: what is sent does not wait for what is drawn.
    await press('Redeploy with these settings');
    await vi.waitFor(async () => expect(await faultAt('Context')).toContain('since changed this to 2048'), { timeout: 3_000 });
    expect(bodies()).toEqual([]);
  });
});

it('does not take another device for somebody else', async () => {
  load({ settings: { context: 4096 } });
  deployments.changed(deployment('2', 'dev_b', { model_id: 'mdl_1', settings: { context: 2048 } }));
  open(null);
  const device = async (name: string): Promise<HTMLInputElement> => vi.waitFor(() => {
    const found = [...document.querySelectorAll<HTMLInputElement>('dialog [type=checkbox]')].find(({ labels }) => labels?.[0]?.textContent?.trim().startsWith(name));
    if (!found) throw new Error(`there is no device ${name}`);
    return found;
  });
  (await device('a')).click();
  await fill('Context', '8192');
  (await device('a')).click();
  (await device('b')).click();
  await fill('Threads', '6');
  await press('Deploy');
  await vi.waitFor(() => expect(bodies()).toMatchObject([{ device_id: 'dev_b', settings: { context: 8192, threads: 6 } }]));
});
