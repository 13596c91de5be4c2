// The buttons of a row while one of them works: where the focus is, and what a screen reader says.

import { describe, expect, it, vi } from 'vitest';

import { deployments, deploymentsLoading, devices, devicesLoading, models } from '../src/data/store';
import { DeploymentsPage } from '../src/pages/deployments/page';
import { DevicePage } from '../src/pages/device/page';
import { go } from '../src/ui/router';
import { Notices } from '../src/ui/notices';
import { held } from './backend';
import { deployment, device, model } from './fixtures';
import { accessible, control, place, press, pressInMenu } from './placed';

const here = place();
/** The height of a row of deployments. */
const ROW = 76;
const REPAIRED = { command_id: 'cmd_9', type: 'REPAIR_SERVING', state: 'processed', device_id: 'dev_a', created_at: '', expires_at: '', result: { status: 'succeeded', output: '', reported_at: '' } };
const REFUSED: [number, unknown] = [409, { status: 409, detail: 'the device is leaving' }];

function load(more: object = {}): void {
  devices.loaded([device('a')]);
  models.loaded([model('1', { name: 'llama' })]);
  deployments.loaded([deployment('1', 'dev_a', more)]);
  deploymentsLoading.value = devicesLoading.value = { state: 'ready', error: null };
}

function open(address: string): void {
  go(address);
  here.show(address === '/deployments' ? <DeploymentsPage /> : <DevicePage />);
}

/** Gives a list of 300 rows a position: nothing is laid out in jsdom. */
function scrollable(list: HTMLElement | null): HTMLElement {
  if (!list) throw new Error('there is no list');
  list.scrollTo = (place?: ScrollToOptions | number): void => {
    list.scrollTop = typeof place === 'object' ? (place.top ?? 0) : 0;
    list.dispatchEvent(new Event('scroll'));
  };
  Object.defineProperties(list, { scrollHeight: { get: () => 301 * ROW }, clientHeight: { get: () => 300 } });
  return list;
}

const group = (): HTMLElement | null => here.root.querySelector('.action-group');
const status = (): HTMLElement | null => here.root.querySelector('.action-group [role=status]');

describe('a row whose button was pressed', () => {
  it.each([
    ['Stop', '/devices/dev_a', '/models/mdl_1/stop/dev_a', 'Stopping…', {}, press],
    ['Redeploy', '/devices/dev_a', '/deployments', 'Redeploying…', {}, pressInMenu],
    ['Repair: llama', '/deployments', '/models/mdl_1/repair-serving/dev_a', 'Repairing…', { stale: true }, press],
  ] as const)('%s on %s keeps the focus, and says what is done in words that it had a place for', async (name, address, path, words, more, pressed) => {
    const answer = held<[number, unknown]>();
    here.served.answers[path] = () => answer.promise;
    load(more);
    open(address);
    await vi.waitFor(() => expect(status()).not.toBeNull());
    const [around, said] = [group(), status()];
    expect(said?.textContent).toBe('');
    if (pressed === press) (await control(name)).focus();
    await pressed(name);
    await vi.waitFor(() => expect(said?.textContent).toBe(words));
    expect(document.activeElement).toBe(around);
    expect(around?.getAttribute('aria-label')).toBe('Actions for llama');
    expect(around?.querySelector('button')).toBeNull();
    await accessible();
    answer.keep(REFUSED);
    await vi.waitFor(() => expect(around?.querySelector('button')).not.toBeNull());
    expect([group(), status()?.textContent]).toEqual([around, '']);
    expect(document.activeElement).toBe(around);
  });

  it.each([
    ['in its place', {}],
    ['further down', { 2: { stale: true } }],
  ])('gives the focus to the row that takes its place, which a redeployment brings %s', async (_, others: Record<string, object>) => {
    devices.loaded([device('a'), device('b')]);
    models.loaded([model('1', { name: 'llama' })]);
    deployments.loaded([deployment('1', 'dev_a', { stale: true }), ...Object.entries(others).map(([id, more]) => deployment(id, 'dev_b', more))]);
    deploymentsLoading.value = devicesLoading.value = { state: 'ready', error: null };
    here.served.answers['/deployments'] = [202, deployment('9', 'dev_a', { model_id: 'mdl_1', state: 'queued', serving: null })];
    go('/deployments');
    here.show(<><DeploymentsPage /><Notices /></>);
    const row = (id: string): HTMLElement | null => here.root.querySelector(`[data-id=dpl_${id}]`);
    await vi.waitFor(() => expect(row('1')).not.toBeNull());
    const button = row('1')?.querySelector<HTMLElement>('[data-action=redeploy]');
    button?.focus();
    button?.click();
    await vi.waitFor(() => expect(row('9')).not.toBeNull());
    await vi.waitFor(() => expect(row('1')).toBeNull());
    expect(document.activeElement).toBe(row('9')?.querySelector('.action-group'));
    await vi.waitFor(() => expect(here.root.querySelector('.notices')?.textContent).toContain('llama is being deployed again.'));
  });

  it.each([
    ['redeploy', '9', [202, deployment('9', 'dev_a', { model_id: 'mdl_1', state: 'queued', serving: null })]],
    ['repair', '1', [200, { items: [deployment('1', 'dev_a', { model_id: 'mdl_1' })], next_cursor: null }]],
  ] as const)('is followed far down the list by the focus and by the list after %s', async (action, successor, answer) => {
    const others = Array.from({ length: 300 }, (_, at) => deployment(`s${at}`, 'dev_b', { stale: true }));
    devices.loaded([device('a'), device('b')]);
    models.loaded([model('1', { name: 'llama' })]);
    deployments.loaded([deployment('1', 'dev_a', { stale: true }), ...others]);
    deploymentsLoading.value = devicesLoading.value = { state: 'ready', error: null };
    here.served.answers['/models/mdl_1/repair-serving/dev_a'] = [202, REPAIRED];
    here.served.answers['/deployments'] = [...answer];
    go('/deployments');
    here.show(<DeploymentsPage />);
    const list = await vi.waitFor(() => scrollable(here.root.querySelector('.list-scroll')));
    const row = (id: string): HTMLElement | null => here.root.querySelector(`[data-id=dpl_${id}]`);
    const button = await vi.waitFor(() => row('1')?.querySelector<HTMLElement>(`[data-action=${action}]`) ?? Promise.reject(new Error('no button')));
    button.focus();
    const focus = vi.spyOn(HTMLElement.prototype, 'focus');
    button.click();
    await vi.waitFor(() => expect(list.scrollTop).toBeGreaterThan(290 * ROW - 900), { timeout: 3_000 });
    await vi.waitFor(() => expect(document.activeElement).toBe(row(successor)?.querySelector('.action-group')));
    // A focus that scrolls would stop the list on its way, while its rows are measured.
    expect(focus.mock.calls.every(([how]) => how?.preventScroll)).toBe(true);
    focus.mockRestore();
  });

  it('is not followed when a person scrolls away from it', async () => {
    devices.loaded([device('a')]);
    deployments.loaded(Array.from({ length: 300 }, (_, at) => deployment(`s${at}`, 'dev_a', { stale: true })));
    deploymentsLoading.value = devicesLoading.value = { state: 'ready', error: null };
    here.served.answers['/models/mdl_s0/repair-serving/dev_a'] = () => held<[number, unknown]>().promise;
    go('/deployments');
    here.show(<DeploymentsPage />);
    const list = await vi.waitFor(() => scrollable(here.root.querySelector('.list-scroll')));
    await press('Repair: model-s0');
    await vi.waitFor(() => expect(document.activeElement).toBe(here.root.querySelector('[data-id=dpl_s0] .action-group')));
    list.scrollTo({ top: 200 * ROW });
    await vi.waitFor(() => expect(here.root.querySelector('[data-id=dpl_s0]')).toBeNull());
    deployments.changed(deployment('s299', 'dev_a', { stale: true, alias: 'changed' }));
    await vi.waitFor(() => expect(here.root.querySelector('[data-id=dpl_s200]')).not.toBeNull());
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(list.scrollTop).toBe(200 * ROW);
    expect(document.activeElement).toBe(list);
  });

  it('gets the focus from a dialog that is done', async () => {
    here.served.answers['/models/mdl_1/uninstall/dev_a'] = () => held<[number, unknown]>().promise;
    load();
    open('/devices/dev_a');
    await pressInMenu('Remove…');
    await press('Remove the model');
    await vi.waitFor(() => expect(status()?.textContent).toBe('Removing…'));
    expect(document.activeElement).toBe(group());
  });

  it('takes no focus from where it went meanwhile', async () => {
    here.served.answers['/models/mdl_1/stop/dev_a'] = () => held<[number, unknown]>().promise;
    load();
    open('/devices/dev_a');
    await press('Stop');
    const tab = here.root.querySelector<HTMLElement>('.tabs a');
    tab?.focus();
    await vi.waitFor(() => expect(status()?.textContent).toBe('Stopping…'));
    expect(document.activeElement).toBe(tab);
  });
});
