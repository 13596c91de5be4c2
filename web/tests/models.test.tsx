// The models: the list, one model, adding, deploying and removing.

import { describe, expect, it, vi } from 'vitest';

import { Problem } from '../src/data/problem';
import { deployments, devices, devicesLoading, heard, me, models, modelsLoading } from '../src/data/store';
import { ModelPage } from '../src/pages/catalogue/one';
import { ModelsPage } from '../src/pages/catalogue/page';
import { Notices } from '../src/ui/notices';
import { go } from '../src/ui/router';
import { held } from './backend';
import { deployment, device, HOSTILE, model } from './fixtures';
import { accessible, control, controls, OWNER, place, press, settled, type } from './placed';

const here = place();
const READY = { state: 'ready', error: null } as const;

function open(address = '/models'): void {
  go(address);
  here.show(<>{address.startsWith('/models/') ? <ModelPage /> : <ModelsPage />}<Notices /></>);
}

function load(): void {
  models.loaded([
    model('1', { name: 'llama', sha256: 'a'.repeat(64) }),
    model('2', { name: HOSTILE[0] ?? '', ready: false }),
    model('3', { name: 'whisper', owned: false, shared: true, publisher: 'other' }),
  ]);
  modelsLoading.value = READY;
  devices.loaded([device('a'), device('b', { online: false })]);
}

describe('the models', () => {
  it('are a skeleton, then empty, then failed', async () => {
    open();
    expect(here.root.querySelector('.skeleton')).not.toBeNull();
    await accessible();
    modelsLoading.value = READY;
    await settled('No model yet');
    await accessible();
    modelsLoading.value = { state: 'failed', error: new Problem(500, { detail: 'the database is gone' }) };
    await settled('The database is gone.');
  });

  it('show their state, where they are, and what may be done', async () => {
    load();
    deployments.loaded([deployment('1', 'dev_a', { stale: true }), deployment('9', 'dev_b', { model_id: 'mdl_1' })]);
    open();
    await settled('3 models');
    expect(here.root.textContent).toContain('2 devices');
    expect(here.root.textContent).toContain('1 stale');
    expect(here.root.textContent).toContain('other/whisper');
    expect(here.root.querySelector('img')).toBeNull();
    await accessible();
    go('/models?state=incomplete');
    await settled('1 of 3');
    go('/models?q=nothing');
    await settled('Nothing matches');
  });

  it('show how much each was used in 30 days, also where only a bound is known', async () => {
    load();
    const figures = (inferences: number): object => ({ total: { inferences } });
    const usage = { groups: [{ key: 'mdl_1', ...figures(1_200) }, { key: 'mdl_9', ...figures(40) }], others: figures(7) };
    here.served.answers['/usage'] = ({ query }) => (query.get('group_by') === 'model' ? [200, usage] : [404, {}]);
    open();
    await settled('1.2K');
    const used = (): (string | null)[] => [...here.root.querySelectorAll('.used[role=cell]')].map((cell) => cell.textContent);
    expect(used()).toEqual(expect.arrayContaining(['1.2K', 'at most 7', 'at most 7']));
    await accessible();
  });

  it('say whose they are, and which of another account is no longer shared', async () => {
    models.loaded([
      model('1', { name: 'mine', shared: true }),
      model('2', { name: 'theirs', owned: false, shared: true, publisher: HOSTILE[1] ?? '' }),
      model('3', { name: 'gone', owned: false, shared: false, publisher: 'other' }),
    ]);
    modelsLoading.value = READY;
    open();
    await settled('3 models');
    const badges = [...here.root.querySelectorAll('.badge')].map((one) => one.textContent);
    expect(badges).toEqual(['Ready', 'Shared', 'Withdrawn', 'Ready', 'Shared']);
    expect([...here.root.querySelectorAll('a.strong')].map((one) => one.textContent)).toEqual(['mine', 'other/gone', '\u2423evil\u2423/theirs']);
    const gone = [...here.root.querySelectorAll('.badge')].find((one) => one.textContent === 'Withdrawn');
    expect(gone?.getAttribute('title')).toBe('other no longer shares this model. It stays where it is deployed.');
    expect(controls().filter((words) => words.startsWith('Deploy'))).toHaveLength(2);
    await accessible();
  });

  it('are added by an address once, also on a double click', async () => {
    load();
    here.served.answers['/models'] = [201, model('4', { name: 'granite' })];
    open();
    await press('Add a model…');
    await settled('Where the file comes from');
    await accessible();
    document.querySelectorAll<HTMLInputElement>('input[type=radio]')[1]?.click();
    await type('input[name=url]', 'https://example.com/files/granite%20small.gguf');
    await type('input[name=name]', 'granite');
    await type('input[name=sha256]', 'b'.repeat(64));
    await type('input[name=size]', '123');
    await accessible();
    const submit = await control('Add the model');
    submit.click();
    submit.click();
    await settled('granite was added.');
    const sent = here.served.to('/models');
    expect(sent).toHaveLength(1);
    expect(sent[0]?.body).toEqual({
      name: 'granite', shared: false, url: 'https://example.com/files/granite%20small.gguf', file_name: 'granite small.gguf', sha256: 'b'.repeat(64), size_bytes: 123,
    });
  });

  it('are called as their file, unless somebody has named them', async () => {
    load();
    open();
    await press('Add a model…');
    const field = await vi.waitFor(() => {
      const found = document.querySelector<HTMLInputElement>('dialog input[type=file]');
      if (!found) throw new Error('there is no field');
      return found;
    });
    const choose = (words: string, file = 'granite-3b.Q4_1.gguf'): void => {
      Object.defineProperty(field, 'files', { configurable: true, value: [new File([words], file)] });
      field.dispatchEvent(new Event('change', { bubbles: true }));
    };
    const fields = [...document.querySelectorAll<HTMLInputElement>('dialog input')].map(({ name }) => name);
    expect(fields).toEqual(['source', 'source', 'file', 'name', 'shared']);
    choose('<!doctype html>', 'another.gguf');
    const name = document.querySelector<HTMLInputElement>('dialog input[name=name]');
    expect(name?.value).toBe('another');
    choose('<!doctype html>');
    expect(name?.value).toBe('granite-3b.Q4_1');
    await type('input[name=name]', 'mine');
    choose('<!doctype html>');
    expect(name?.value).toBe('mine');
  });

  it('are deployed to one device at once, with the same key on a second try', async () => {
    load();
    here.served.answers['/deployments'] = [503, { status: 503, detail: 'the backend is overloaded' }];
    open();
    await press('Deploy…: llama');
    await settled('0 chosen');
    await settled('Deploy llama');
    await accessible();
    document.querySelectorAll<HTMLInputElement>('.picker li input')[0]?.click();
    await settled('1 chosen');
    await press('Deploy');
    await settled('The backend is overloaded.');
    here.served.answers['/deployments'] = [202, deployment('7', 'dev_a', { model_id: 'mdl_1', state: 'queued' })];
    here.served.answers['/deployments/dpl_7'] = [200, deployment('7', 'dev_a', { model_id: 'mdl_1', state: 'queued' })];
    await press('Deploy');
    await settled('llama is being deployed to a.');
    const [first, second] = here.served.to('/deployments');
    expect(first?.body).toEqual({ model_id: 'mdl_1', device_id: 'dev_a', serve: true });
    expect(first?.headers.get('idempotency-key')).toBe(second?.headers.get('idempotency-key'));
    heard({ type: 'change', id: null, change: { kind: 'deployment', id: 'dpl_7', change: 'changed', item: deployment('7', 'dev_a', { model_id: 'mdl_1' }) } });
    await settled('llama is deployed to a.');
    expect([...document.querySelectorAll('.notice')].map((one) => one.textContent)).toEqual(['llama is deployed to a.']);
  });

  it('are deployed to the only device without a choice', async () => {
    load();
    devices.removed('dev_b');
    devicesLoading.value = READY;
    here.served.answers['/deployments'] = [202, deployment('7', 'dev_a', { model_id: 'mdl_1', state: 'queued' })];
    open();
    await press('Deploy…: llama');
    await settled('1 chosen');
    expect(document.querySelector('.picker [type=search]')).toBeNull();
    expect(document.body.textContent).not.toContain('that match');
    await press('Deploy');
    await settled('llama is being deployed to a.');
    expect(here.served.to('/deployments')[0]?.body).toEqual({ model_id: 'mdl_1', device_id: 'dev_a', serve: true });
  });

  it('are deployed to many devices after a preview', async () => {
    load();
    here.served.answers['/operations'] = [200, { work: {}, devices: 2, first: [{ device_id: 'dev_a', name: 'a', online: true }] }];
    open();
    await press('Deploy…: llama');
    await settled('All 2 devices that match');
    document.querySelector<HTMLInputElement>('.picker > label input')?.click();
    await settled('2 chosen');
    await type('input[name=port]', '9000');
    await press('Preview');
    await settled('Deploy to 2 devices');
    await accessible();
    expect(here.served.to('/operations')[0]?.body).toEqual({
      work: { kind: 'deploy', model_id: 'mdl_1', serve: true, port: 9000 }, dry_run: true, devices: ['dev_a', 'dev_b'],
    });
  });

  it('are not deployed to a device that updates, nor taken off it, and the page says so if that is all', async () => {
    load();
    devices.changed(device('b', { status: 'updating' }));
    open();
    await press('Deploy…: llama');
    await settled('Updating…');
    const box = (name: string): HTMLInputElement | undefined =>
      [...document.querySelectorAll<HTMLInputElement>('.picker li input')].find((one) => one.labels?.[0]?.textContent?.startsWith(name));
    await vi.waitFor(() => expect([box('a')?.disabled, box('b')?.disabled]).toEqual([false, true]));
    document.querySelector<HTMLInputElement>('.picker > label input')?.click();
    await settled('1 chosen');
    await accessible();
    // It begins to update while the dialog is open.
    devices.changed(device('a', { status: 'updating' }));
    await press('Deploy');
    await settled('Nothing was started: every affected device is updating.');
    expect([here.served.to('/deployments'), here.served.to('/operations')]).toEqual([[], []]);
    await press('Cancel');
    deployments.loaded([deployment('1', 'dev_a')]);
    open('/models/mdl_1');
    await press('Remove…');
    await press('Remove from all devices…');
    await settled('Nothing was started: every affected device is updating.');
    expect(document.querySelector('dialog')).toBeNull();
  });

  it('are deployed in a dialog whose box is described by what it does, and by nothing of web pages', async () => {
    load();
    open();
    await press('Deploy…');
    const box = await vi.waitFor(() => {
      const found = document.querySelector<HTMLInputElement>('.dialog [name=serve]');
      if (!found) throw new Error('there is no box');
      return found;
    });
    const described = document.getElementById(box.getAttribute('aria-describedby') ?? '');
    expect(described?.textContent).toMatch(/^Otherwise the model stays on the disk .* presses Serve\.$/);
    const origins = [...document.querySelectorAll('.dialog .hint')].find(({ textContent }) => textContent?.startsWith('Web pages may call'));
    expect(origins?.parentElement?.className).toBe('dialog-body');
    expect(document.querySelector<HTMLInputElement>('[name=alias]')?.title).toBe('Lower-case letters, digits, dots, _ and -; the first is a letter or a digit.');
    await accessible();
  });

  it('have no controls for a viewer', async () => {
    me.value = { ...OWNER, role: 'viewer' };
    load();
    open();
    await settled('3 models');
    expect(controls().filter((words) => words.endsWith('…'))).toEqual([]);
  });
});

describe('one model', () => {
  it('is not there', async () => {
    modelsLoading.value = READY;
    open('/models/mdl_x');
    await settled('No such model');
    await accessible();
  });

  it('shows what it is, where it is and how much it was used', async () => {
    load();
    deployments.loaded([deployment('1', 'dev_a', { stale: true })]);
    here.served.answers['/usage'] = ({ query }) =>
      // The days of the list: with another span, the two pages would have different numbers.
      query.get('group_by') === 'none' && query.get('model_id') === 'mdl_1' && query.get('to')?.endsWith('T00:00:00.000Z') && query.get('from')?.endsWith('T00:00:00.000Z')
        ? [200, { groups: [{ total: { inferences: 3, prompt_tokens: 11, completion_tokens: 6 }, buckets: [] }] }]
        : [422, { status: 422 }];
    open('/models/mdl_1');
    await settled('3 inferences, 11 prompt tokens, 6 completion tokens');
    await settled('Stale allowlist');
    expect(here.root.querySelector('[data-action=repair]')).not.toBeNull();
    await accessible();
  });

  it('asks at once for the device where the address says so, and Back asks nothing', async () => {
    load();
    open('/models/mdl_1?open=deploy');
    await vi.waitFor(() => expect(document.querySelector('dialog h2')?.textContent).toContain('Deploy'));
    expect(location.search).toBe('');
    await accessible();
  });

  it('is shared and no longer shared', async () => {
    load();
    here.served.answers['/models/mdl_1'] = ({ body }) => [200, model('1', { name: 'llama', shared: (body as { shared: boolean }).shared })];
    open('/models/mdl_1');
    await press('Share');
    await settled('may deploy llama now');
    await press('End sharing');
    await settled('llama is no longer shared.');
  });

  it('shows at once that it is being shared, and takes it back if that is refused', async () => {
    load();
    const answer = held<[number, unknown]>();
    here.served.answers['/models/mdl_1'] = () => answer.promise;
    open('/models/mdl_1');
    await press('Share');
    await settled('Sharing…');
    expect((await control('Share') as HTMLButtonElement).disabled).toBe(true);
    await accessible();
    answer.keep([409, { status: 409, detail: 'the model is being removed' }]);
    await settled('The model is being removed.');
    await vi.waitFor(() => expect(here.root.textContent).not.toContain('Sharing…'));
    expect((await control('Share') as HTMLButtonElement).disabled).toBe(false);
  });

  it('is removed although its only deployment has failed', async () => {
    load();
    deployments.loaded([deployment('1', 'dev_a', { state: 'failed', serving: null, reason: 'no space left' })]);
    open('/models/mdl_1');
    await settled('No space left.');
    await press('Remove…');
    await settled('Type llama to confirm');
    await press('Cancel');
    // A redeployment that failed leaves the model where it was.
    deployments.loaded([deployment('1', 'dev_a', { state: 'failed' })]);
    await press('Remove…');
    await settled('The model is on 1 device.');
  });

  it('is removed only from where it is on no device, after its name was typed', async () => {
    load();
    deployments.loaded([deployment('1', 'dev_a')]);
    here.served.answers['/models/mdl_1'] = [204, null];
    here.served.answers['/operations'] = [200, { work: {}, devices: 1, first: [] }];
    open('/models/mdl_1');
    await press('Remove…');
    await settled('The model is on 1 device.');
    await accessible();
    await press('Remove from all devices…');
    await settled('Type llama to confirm');
    await accessible();
    expect((await control('Remove from 1 device') as HTMLButtonElement).disabled).toBe(true);
    await press('Cancel');
    deployments.removed('dpl_1');
    await settled('The model is on no device.');
    await press('Remove…');
    await type('#remove-model', 'llama');
    const confirm = await vi.waitFor(async () => {
      const button = (await control('Remove the model')) as HTMLButtonElement;
      expect(button.disabled).toBe(false);
      return button;
    });
    confirm.click();
    confirm.click();
    await settled('llama was removed.');
    expect(here.served.to('/models/mdl_1')).toHaveLength(1);
    expect(location.pathname).toBe('/models');
  });
});
