// The list of deployments: what comes first, what is filtered, and what is sent for one and for many.

import { describe, expect, it, vi } from 'vitest';

import { Problem } from '../src/data/problem';
import { deployments, deploymentsLoading, devices, devicesLoading, heard, me, models } from '../src/data/store';
import { DeploymentsPage } from '../src/pages/deployments/page';
import { Notices } from '../src/ui/notices';
import { go } from '../src/ui/router';
import { deployment, device, HOSTILE, model } from './fixtures';
import { accessible, controls, OWNER, place, press, settled } from './placed';
import { spaced } from './spaced';

const here = place();
const READY = { state: 'ready', error: null } as const;

function open(address = '/deployments'): void {
  go(address);
  here.show(<><DeploymentsPage /><Notices /></>);
}

function load(): void {
  devices.loaded([device('a'), device('b'), device('c', { online: false })]);
  models.loaded([model('1', { name: 'llama' }), model('2', { name: 'whisper' })]);
  deployments.loaded([
    deployment('1', 'dev_a'),
    deployment('2', 'dev_b', { state: 'downloading', serving: null, progress: { bytes_done: 5e8, bytes_total: 2e9 } }),
    deployment('3', 'dev_c', { model_id: 'mdl_1', state: 'failed', serving: null, reason: 'no space left' }),
    deployment('4', 'dev_b', { model_id: 'mdl_1', stale: true }),
    deployment('5', 'dev_a', { model_id: 'mdl_2', stale: true }),
    deployment('6', 'dev_a', { model_id: 'mdl_3', removed: true, serving: { state: 'removed', is_serving: false, port: 1 } }),
  ]);
  deploymentsLoading.value = READY;
  devicesLoading.value = READY;
}

const rows = (): string[] => [...here.root.querySelectorAll('.list-rows .list-row')].map((row) => row.getAttribute('data-id') ?? '');
const plan = (count: number): object => ({ work: {}, devices: count, first: [{ device_id: 'dev_b', name: 'b', online: false }] });

describe('the list of deployments', () => {
  it('is a skeleton, then empty, then failed in the backend’s words', async () => {
    open();
    expect(here.root.querySelector('.skeleton')).not.toBeNull();
    await accessible();
    deploymentsLoading.value = READY;
    await settled('Nothing is deployed');
    await accessible();
    deploymentsLoading.value = { state: 'failed', error: new Problem(503, { detail: 'the backend is overloaded' }) };
    await settled('The backend is overloaded.');
    await accessible();
  });

  it('has stale ones first, then failed ones, then those in progress, and none that was removed', async () => {
    load();
    open();
    await settled('5 deployments');
    expect(rows()).toEqual(['dpl_5', 'dpl_4', 'dpl_3', 'dpl_2', 'dpl_1']);
    expect(here.root.textContent).toContain('2 deployments refuse pages of an allowed origin');
    expect(spaced(here.root.textContent)).toContain('500 MB of 2.0 GB');
    expect(here.root.textContent).toContain('No space left.');
    await accessible();
  });

  it('shows that a redeployment which failed left its model serving, stale and to be repaired', async () => {
    devices.loaded([device('a')]);
    models.loaded([model('1', { name: 'llama' })]);
    deployments.loaded([deployment('1', 'dev_a', { state: 'failed', stale: true, reason: 'no space left' })]);
    deploymentsLoading.value = READY;
    devicesLoading.value = READY;
    open('/deployments?state=stale');
    await settled('1 deployment');
    expect(rows()).toEqual(['dpl_1']);
    const row = here.root.querySelector('.list-rows .list-row');
    expect([...(row?.querySelectorAll('.badge') ?? [])].map(({ textContent }) => textContent)).toEqual(['Failed', 'Serving', 'Stale allowlist']);
    expect([...(row?.querySelectorAll('button') ?? [])].map(({ textContent }) => textContent)).toEqual(['Repair', 'Redeploy']);
    await accessible();
  });

  it('filters and orders by the address', async () => {
    load();
    open('/deployments?state=failed');
    await settled('1 of 5');
    expect(rows()).toEqual(['dpl_3']);
    await press('Serving3');
    await settled('3 of 5');
    expect(location.search).toBe('?state=serving');
    go('/deployments?model_id=mdl_1&sort=-device');
    await settled('3 of 5');
    expect(rows()).toEqual(['dpl_3', 'dpl_4', 'dpl_1']);
    go('/deployments?q=nothing+fits');
    await settled('Nothing matches');
    await accessible();
  });

  it('filters by what the devices are selected by, in the words of the API', async () => {
    load();
    devices.changed(device('b', { tags: ['lab'], agent_version: '1.2.0' }));
    open('/deployments?select=tag=lab');
    await settled('2 of 5');
    expect(rows()).toEqual(['dpl_4', 'dpl_2']);
    // At the end of the chips it makes no line of its own.
    expect(here.root.querySelector('.chips + .button')?.textContent).toBe('Clear all');
    expect(here.root.querySelector('.filters')?.textContent).not.toContain('Clear all');
    await press('Remove the filter tag=lab');
    await settled('5 deployments');
    await press('Filter by tag or state');
    await accessible();
    await press('1.2.01');
    await settled('2 of 5');
    expect(new URLSearchParams(location.search).get('select')).toBe('version=1.2.0');
    devices.changed(device('a', { agent_version: '1.2.0' }));
    await vi.waitFor(() => expect(rows()).toHaveLength(4), { timeout: 4_000 });
    // A device that comes and goes is not told each time.
    expect(here.root.querySelector('.page-head [role=status]')?.textContent).toBe('2 of 5');
    await press('Clear all');
    await settled('5 deployments');
  });

  it('says and offers nothing of a selection before it knows the devices, and why it does not', async () => {
    load();
    devices.changed(device('b', { tags: ['lab'] }));
    devicesLoading.value = { state: 'loading', error: null };
    open('/deployments?select=tag=lab');
    await settled('2 of 5');
    expect(here.root.querySelector('.page-head [role=status]')).toBeNull();
    expect(controls()).not.toContain('Repair all…');
    devices.changed(device('b'));
    await vi.waitFor(() => expect(here.root.querySelector('.skeleton')).not.toBeNull(), { timeout: 4_000 });
    devicesLoading.value = { state: 'failed', error: new Problem(503, { detail: 'the backend is overloaded' }) };
    await settled('The backend is overloaded.');
    expect(here.root.textContent).not.toContain('Nothing matches');
    await accessible();
    devicesLoading.value = READY;
    await settled('Nothing matches');
  });

  it('shows what events say without a reload', async () => {
    load();
    open();
    await settled('5 deployments');
    deployments.changed(deployment('2', 'dev_b', { state: 'failed', serving: null, reason: 'the file is not the announced one' }));
    await settled('The file is not the announced one.');
    deployments.removed('dpl_3');
    await settled('4 deployments');
  });

  it('shows hostile names as text', async () => {
    devices.loaded(HOSTILE.map((name, index) => device(String(index), { name })));
    deployments.loaded(HOSTILE.map((name, index) => deployment(String(index), `dev_${index}`, { state: 'failed', reason: name })));
    deploymentsLoading.value = READY;
    open();
    await settled('<img src=x onerror=alert(1)>');
    expect(here.root.querySelector('img')).toBeNull();
    expect(here.root.textContent).not.toMatch(/[\u0000\u202e\u200b]/);
    await accessible();
  });

  it('repairs once on a double click', async () => {
    load();
    const command = { command_id: 'cmd_9', type: 'REPAIR_SERVING', state: 'processed', device_id: 'dev_b', created_at: '', expires_at: '', result: { status: 'succeeded', output: '', reported_at: '' } };
    here.served.answers['/models/mdl_1/repair-serving/dev_b'] = [202, command];
    here.served.answers['/deployments'] = [200, { items: [deployment('4', 'dev_b', { model_id: 'mdl_1' })] }];
    open();
    await settled('5 deployments');
    const repair = here.root.querySelector<HTMLElement>('[data-id=dpl_4] [data-action=repair]');
    repair?.click();
    repair?.click();
    await settled('llama was repaired.');
    expect(here.served.to('/models/mdl_1/repair-serving/dev_b')).toHaveLength(1);
    await settled('1 deployment refuses pages of an allowed origin');
  });

  it('lists one that failed until somebody has seen it, and then the one by which the model is there', async () => {
    load();
    here.served.answers['/deployments/dpl_3/cancel'] = [202, deployment('3', 'dev_c', { model_id: 'mdl_1', state: 'failed', removed: true, current: false })];
    here.served.answers['/deployments'] = [200, { items: [deployment('0', 'dev_c', { model_id: 'mdl_1' })] }];
    open();
    await settled('5 deployments');
    here.root.querySelector<HTMLElement>('[data-id=dpl_3] [data-action=dismiss]')?.click();
    await settled('The deployment of llama is no longer listed.');
    await vi.waitFor(() => expect(rows().sort()).toEqual(['dpl_0', 'dpl_1', 'dpl_2', 'dpl_4', 'dpl_5']));
    await accessible();
  });

  it('keeps the place of Repair while the device is away, and says why it waits', async () => {
    load();
    open();
    await settled('5 deployments');
    const repair = (): HTMLElement | null => here.root.querySelector<HTMLElement>('[data-id=dpl_4] [data-action=repair]');
    repair()?.focus();
    devices.changed(device('b', { online: false }));
    await vi.waitFor(() => expect(repair()?.getAttribute('aria-disabled')).toBe('true'));
    expect(document.activeElement).toBe(repair());
    await accessible();
    repair()?.click();
    await settled('Models can be served and repaired once it is back.');
    expect(here.served.to('/models/mdl_1/repair-serving/dev_b')).toHaveLength(0);
    devices.changed(device('b'));
    await vi.waitFor(() => expect(repair()?.hasAttribute('aria-disabled')).toBe(false));
  });

  it('says why a deployment has failed where it otherwise says what its model is for', async () => {
    load();
    models.loaded([model('1', { name: 'llama', plugin: 'audio_transcriber' }), model('2', { name: 'whisper' })]);
    open();
    await settled('5 deployments');
    const row = (id: string): string | null | undefined => here.root.querySelector(`[data-id=dpl_${id}] .model`)?.textContent;
    expect([row('1'), row('3')]).toEqual(['llamaTranscriptionmodel-1', 'llamaNo space left.']);
  });

  it('says what a model with a stale allowlist does, beside that the allowlist is stale', async () => {
    load();
    deployments.loaded([
      deployment('1', 'dev_a', { stale: true }),
      deployment('2', 'dev_a', { stale: true, serving: { state: 'not_serving', is_serving: false, port: 8080 } }),
      deployment('3', 'dev_a', { stale: true, state: 'failed', serving: null }),
    ]);
    open();
    await settled('5 deployments');
    const badges = (id: string): (string | null)[] =>
      [...here.root.querySelectorAll(`[data-id=dpl_${id}] .standing .badge`)].map((badge) => badge.textContent);
    expect(['1', '2', '3'].map(badges)).toEqual([['Serving', 'Stale allowlist'], ['Not serving', 'Stale allowlist'], ['Failed']]);
    await accessible();
  });

  it('says once that a device is offline', async () => {
    devices.loaded([device('c', { online: false })]);
    models.loaded([model('1'), model('2')]);
    deployments.loaded([deployment('1', 'dev_c'), deployment('2', 'dev_c', { model_id: 'mdl_2', state: 'failed', serving: null })]);
    deploymentsLoading.value = READY;
    devicesLoading.value = READY;
    open();
    await settled('2 deployments');
    const badges = [...here.root.querySelectorAll('.list-rows .list-row')].map((row) => [...row.querySelectorAll('.badge')].map(({ textContent }) => textContent));
    expect(badges).toEqual([['Failed', 'Offline'], ['Offline']]);
  });

  it('offers to serve a stopped model, and a repair only of a stale one', async () => {
    load();
    const stopped = { state: 'not_serving', is_serving: false, port: 8080 } as const;
    deployments.loaded([
      deployment('1', 'dev_a'),
      deployment('2', 'dev_a', { stale: true }),
      deployment('3', 'dev_a', { serving: stopped }),
      deployment('4', 'dev_a', { serving: stopped, stale: true }),
      deployment('5', 'dev_a', { serving: { ...stopped, detail: 'port 8080 is in use by nginx' } }),
      deployment('6', 'dev_a', { serving: { ...stopped, state: 'starting' } }),
      deployment('7', 'dev_c', { serving: stopped }),
    ]);
    open();
    await settled('7 deployments');
    const offered = (id: string): (string | undefined)[] =>
      [...here.root.querySelectorAll<HTMLElement>(`[data-id=dpl_${id}] [data-action]`)].map(({ dataset }) => dataset.action);
    expect(['1', '2', '3', '4', '5', '6'].map(offered)).toEqual([
      ['redeploy'], ['repair', 'redeploy'], ['serve', 'redeploy'], ['repair', 'serve'], ['serve', 'redeploy'], ['redeploy'],
    ]);
    here.root.querySelector<HTMLElement>('[data-id=dpl_7] [data-action=serve]')?.click();
    await settled('Models can be served and repaired once it is back.');
    expect(here.served.to('/models/mdl_7/serve/dev_c')).toHaveLength(0);
    await accessible();
  });

  it('repairs all stale ones with an operation for each model, after a preview', async () => {
    load();
    const begun: string[] = [];
    here.served.answers['/operations'] = ({ body, headers }) => {
      if ((body as { dry_run?: boolean }).dry_run) return [200, plan(1)];
      begun.push(headers.get('idempotency-key') ?? '');
      // The first start of the second operation is refused: the next attempt goes on from there, with the same key.
      if (begun.length === 2) return [503, { status: 503, detail: 'the backend is overloaded' }];
      const counts = { pending: 0, sent: 0, succeeded: 1, failed: 0, skipped: 0, cancelled: 0 };
      return [202, { operation_id: 'opr', state: 'succeeded', devices: 1, counts, work: { kind: 'repair' } }];
    };
    open();
    await press('Repair all…');
    await settled('This touches 2 deployments of 2 models');
    await accessible();
    await press('Repair 2 deployments');
    await settled('The backend is overloaded.');
    await press('Repair 2 deployments');
    await settled('Started');
    expect(begun).toHaveLength(3);
    expect(begun[1]).toBe(begun[2]);
    expect(begun[0]).not.toBe(begun[1]);
    const bodies = here.served.to('/operations').map(({ body }) => body).filter((body) => !(body as { dry_run?: boolean }).dry_run);
    expect(bodies).toContainEqual({ work: { kind: 'repair', model_id: 'mdl_1' }, devices: ['dev_b'] });
    expect(bodies).toContainEqual({ work: { kind: 'repair', model_id: 'mdl_2' }, devices: ['dev_a'] });
  });

  it('leaves out what is on a device that updates, and says so if that is all', async () => {
    load();
    here.served.answers['/operations'] = () => [200, plan(1)];
    devices.changed(device('b', { status: 'updating' }));
    open();
    await press('Repair all…');
    await settled('This touches 1 device');
    await settled('1 deployment is left out because its device is updating.');
    expect(here.served.to('/operations').map(({ body }) => (body as { devices: string[] }).devices)).toEqual([['dev_a']]);
    await press('Cancel');
    devices.changed(device('a', { status: 'updating' }));
    await press('Redeploy all…');
    await settled('Nothing was started: every affected device is updating.');
    expect(here.root.querySelector('dialog')).toBeNull();
  });

  it('starts the operations that the account may not have yet as others end, and says so', async () => {
    load();
    const begun: string[] = [];
    const counts = { pending: 0, sent: 1, succeeded: 0, failed: 0, skipped: 0, cancelled: 0 };
    const operation = (id: string, state: string): object => ({ operation_id: id, state, devices: 1, counts, work: { kind: 'repair' } });
    here.served.answers['/operations/opr_1'] = [200, operation('opr_1', 'running')];
    let full = true;
    here.served.answers['/operations'] = ({ body }) => {
      if ((body as { dry_run?: boolean }).dry_run) return [200, plan(1)];
      if (begun.length === 1 && full) return [409, { status: 409, code: 'quota-reached', detail: 'ten operations run' }];
      begun.push(`opr_${begun.length + 1}`);
      return [202, operation(begun.at(-1) ?? '', begun.length === 1 ? 'running' : 'succeeded')];
    };
    open();
    await press('Repair all…');
    await settled('This touches 2 deployments of 2 models');
    await press('Repair 2 deployments');
    await settled('Started 1 of 2 operations.');
    await accessible();
    expect(document.querySelector('dialog .form-error')?.textContent).toBe('');
    full = false;
    heard({ type: 'change', id: null, change: { kind: 'operation', id: 'opr_1', change: 'changed', item: operation('opr_1', 'succeeded') } });
    await settled('Started 2 operations');
    expect(begun).toEqual(['opr_1', 'opr_2']);
  });

  it('says what was not started when its dialog is closed, and starts nothing of it later', async () => {
    load();
    let begun = 0;
    const counts = { pending: 0, sent: 1, succeeded: 0, failed: 0, skipped: 0, cancelled: 0 };
    const running = { operation_id: 'opr_1', state: 'running', devices: 1, counts, work: { kind: 'repair' } };
    here.served.answers['/operations/opr_1'] = [200, running];
    here.served.answers['/operations'] = ({ body }) => {
      if ((body as { dry_run?: boolean }).dry_run) return [200, plan(1)];
      begun += 1;
      return begun === 1 ? [202, running] : [409, { status: 409, code: 'quota-reached', detail: 'ten operations run' }];
    };
    open();
    await press('Repair all…');
    await settled('This touches 2 deployments of 2 models');
    await press('Repair 2 deployments');
    await settled('Started 1 of 2 operations.');
    document.querySelector<HTMLButtonElement>('dialog .dialog-foot .button')?.click();
    await settled('Started only 1 of 2 operations');
    heard({ type: 'change', id: null, change: { kind: 'operation', id: 'opr_1', change: 'changed', item: { ...running, state: 'succeeded' } } });
    await settled('0 devices done');
    expect(begun).toBe(2);
  });

  it('starts nothing more once its dialog is closed, and says what was started', async () => {
    load();
    const answers: ((answer: [number, unknown]) => void)[] = [];
    here.served.answers['/operations'] = ({ body }) =>
      (body as { dry_run?: boolean }).dry_run ? [200, plan(1)] : new Promise((resolve) => answers.push(resolve));
    open();
    await press('Repair all…');
    await settled('This touches 2 deployments of 2 models');
    await press('Repair 2 deployments');
    await vi.waitFor(() => expect(answers).toHaveLength(1));
    document.querySelector<HTMLButtonElement>('dialog .dialog-foot .button')?.click();
    await vi.waitFor(() => expect(document.querySelector('dialog')).toBeNull());
    await press('Redeploy all…');
    await settled('This touches 2 deployments of 2 models');
    const counts = { pending: 0, sent: 0, succeeded: 1, failed: 0, skipped: 0, cancelled: 0 };
    answers[0]?.([202, { operation_id: 'opr_1', state: 'succeeded', devices: 1, counts, work: { kind: 'repair' } }]);
    await settled('Started only 1 of 2 operations');
    expect([answers.length, document.querySelectorAll('dialog').length]).toEqual([1, 1]);
  });

  it('redeploys all stale ones, and leaves a stopped model stopped', async () => {
    load();
    deployments.changed(deployment('1', 'dev_a', { stale: true, serving: { state: 'not_serving', is_serving: false, port: 8080 } }));
    const counts = { pending: 0, sent: 0, succeeded: 1, failed: 0, skipped: 0, cancelled: 0 };
    here.served.answers['/operations'] = ({ body }) =>
      (body as { dry_run?: boolean }).dry_run ? [200, plan(1)] : [202, { operation_id: 'opr', state: 'succeeded', devices: 1, counts, work: { kind: 'deploy' } }];
    open();
    await press('Redeploy all…');
    await settled('This touches 3 deployments of 2 models');
    await settled('stays stopped');
    await accessible();
    await press('Redeploy 3 deployments');
    await settled('Started');
    const bodies = here.served.to('/operations').map(({ body }) => body).filter((body) => !(body as { dry_run?: boolean }).dry_run);
    expect(bodies).toContainEqual({ work: { kind: 'deploy', model_id: 'mdl_1', serve: true }, devices: ['dev_b'] });
    expect(bodies).toContainEqual({ work: { kind: 'deploy', model_id: 'mdl_2', serve: true }, devices: ['dev_a'] });
    expect(bodies).toContainEqual({ work: { kind: 'deploy', model_id: 'mdl_1', serve: false }, devices: ['dev_a'] });
  });

  it('says that a model is being loaded or stopped', async () => {
    load();
    deployments.changed(deployment('1', 'dev_a', { serving: { state: 'starting', is_serving: false, port: 8080 } }));
    open();
    await settled('Loading');
    deployments.changed(deployment('1', 'dev_a', { serving: { state: 'stopping', is_serving: false, port: 8080 } }));
    await settled('Stopping');
    deployments.changed(deployment('1', 'dev_a', { serving: { state: 'not_serving', is_serving: false, port: 8080 } }));
    await settled('Not serving');
    await accessible();
  });

  it('counts a model that its device cannot serve as failed, and nothing as served by a device that is away', async () => {
    load();
    deployments.changed(deployment('1', 'dev_a', { serving: { state: 'not_serving', is_serving: false, port: 8080, detail: 'port 8080 is in use' } }));
    deployments.changed(deployment('7', 'dev_c', { model_id: 'mdl_2' }));
    open('/deployments?state=failed');
    await settled('Cannot serve');
    expect(rows()).toEqual(['dpl_1', 'dpl_3']);
    expect(here.root.textContent).toContain('Port 8080 is in use.');
    go('/deployments?device_id=dev_c&state=serving');
    await vi.waitFor(() => expect([...here.root.querySelectorAll('.standing .badge')].map((badge) => badge.textContent)).toEqual(['Offline']));
    await accessible();
  });

  it('cancels the selected ones that are in progress, and says which were not cancelled', async () => {
    load();
    here.served.answers['/deployments/dpl_2/cancel'] = [409, { status: 409, detail: 'the deployment has ended' }];
    open();
    await settled('5 deployments');
    here.root.querySelector<HTMLInputElement>('.list-head input')?.click();
    await settled('5 selected');
    await accessible();
    await press('Cancel…');
    await settled('This cancels 1 deployment');
    await accessible();
    await press('Cancel 1 deployment');
    await settled('1 deployment was not cancelled. The deployment has ended.');
  });

  it('tells how many deployments it has tried to cancel, and stops with its dialog', async () => {
    load();
    deployments.changed(deployment('1', 'dev_a', { state: 'downloading', serving: null }));
    const answers: ((answer: [number, unknown]) => void)[] = [];
    for (const id of ['1', '2']) here.served.answers[`/deployments/dpl_${id}/cancel`] = () => new Promise((resolve) => answers.push(resolve));
    open();
    await settled('5 deployments');
    here.root.querySelector<HTMLInputElement>('.list-head input')?.click();
    await press('Cancel…');
    await press('Cancel 2 deployments');
    await settled('0 of 2 attempted. To stop, close this dialog.');
    document.querySelector<HTMLButtonElement>('dialog .dialog-foot .button')?.click();
    await vi.waitFor(() => expect(document.querySelector('dialog')).toBeNull());
    answers[0]?.([204, null]);
    await settled('Stopped: 1 deployment left unchanged.');
    expect(answers).toHaveLength(1);
  });

  it('has no controls for a viewer, also if the role is lowered while the page is open', async () => {
    load();
    open();
    await settled('5 deployments');
    expect(controls()).toContain('Repair all…');
    here.served.answers['/operations'] = [403, { status: 403, detail: 'the role viewer lacks serving:operate' }];
    here.served.answers['/me'] = [200, { ...OWNER, role: 'viewer' }];
    await press('Repair all…');
    // The dialog goes with the permission that it needs.
    await vi.waitFor(() => expect(me.value?.role).toBe('viewer'));
    await vi.waitFor(() => expect(document.querySelector('dialog')).toBeNull());
    await vi.waitFor(() => expect(here.root.querySelector('[data-action]')).toBeNull());
    expect(here.root.querySelector('.list-head input')).toBeNull();
  });
});
