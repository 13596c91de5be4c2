// What the list of devices says of updates, and the form that takes the code of a device that was uninstalled.

import { describe, expect, it, vi } from 'vitest';

import { devices, devicesLoading, heard, me } from '../src/data/store';
import { DevicesPage } from '../src/pages/devices/page';
import { Notices } from '../src/ui/notices';
import { go } from '../src/ui/router';
import { device, HOSTILE } from './fixtures';
import { accessible, control, OWNER, place, press, settled, type } from './placed';

const here = place();
const TITLE = 'Retire a device with its code…';

function open(): void {
  devicesLoading.value = { state: 'ready', error: null };
  go('/devices');
  here.show(<><DevicesPage /><Notices /></>);
}

async function send(code: string): Promise<void> {
  await vi.waitFor(() => expect(document.querySelector('dialog')?.open).toBe(true));
  await type('#retire-code', code);
  const button = await control('Remove the device');
  expect(button.classList.contains('danger')).toBe(true);
  button.click();
}

describe('a retire code', () => {
  it('removes its device, which leaves the list by itself', async () => {
    here.served.answers['/devices/retire'] = [204, null];
    devices.loaded([device('gone')]);
    open();
    await settled('1 device');
    await press(TITLE);
    await settled('It starts with lrc_.');
    await accessible();
    await send('lrc_abc');
    await settled('The device is retired, and its slot is free.');
    expect(here.served.to('/devices/retire').map(({ method, body }) => [method, body])).toEqual([['POST', { retire_code: 'lrc_abc' }]]);
    expect(document.querySelector('dialog')).toBeNull();
    heard({ type: 'change', id: null, change: { kind: 'device', id: 'dev_gone', change: 'removed', item: null } });
    await settled('No device yet');
    await accessible();
  });

  it('that is wrong is said in the backend’s words, and stays to be mended', async () => {
    here.served.answers['/devices/retire'] = [400, { status: 400, detail: 'the retire code is incomplete', hint: 'run `link uninstall --force` again' }];
    open();
    await press(TITLE);
    await send('lrc_ab');
    await settled('The retire code is incomplete.');
    // A hint that names a command is for a terminal.
    expect(document.querySelector('dialog [role=alert]')?.textContent).toBe('The retire code is incomplete.');
    await vi.waitFor(() => expect(document.activeElement?.id).toBe('retire-code'));
    expect(document.querySelector<HTMLInputElement>('#retire-code')?.value).toBe('lrc_ab');
    await accessible();
  });

  it('is sent once by a double click, and also by a viewer: the code is the proof', async () => {
    me.value = { ...OWNER, role: 'viewer' };
    let answer: (value: [number, unknown]) => void = () => undefined;
    here.served.answers['/devices/retire'] = () => new Promise((resolve) => (answer = resolve));
    open();
    await press(TITLE);
    await send('lrc_abc');
    (await control('Remove the device')).click();
    await vi.waitFor(() => expect(here.served.to('/devices/retire')).toHaveLength(1));
    answer([204, null]);
    await settled('its slot is free');
    expect(here.served.to('/devices/retire')).toHaveLength(1);
  });
});

describe('the list of devices', () => {
  it('says what became of the last update, and that a device went away in the middle of one', async () => {
    const last = { from: '1.2.0', to: '1.3.0' };
    devices.loaded([
      device('new', { last_update: { ...last, outcome: 'committed' } }),
      device('back', { last_update: { ...last, to: '1.4.0', outcome: 'rolled_back', reason: HOSTILE[0] ?? '' } }),
      device('away', { online: false, status: 'updating' }),
      device('busy', { status: 'updating' }),
    ]);
    open();
    await settled('from 1.2.0');
    const from = [...here.root.querySelectorAll('[title^="Updated from"]')];
    expect(from.map((one) => [one.textContent, one.getAttribute('title')])).toEqual([['from 1.2.0', 'Updated from 1.2.0']]);
    const badge = (words: string): Element | undefined => [...here.root.querySelectorAll('.badge')].find((one) => one.textContent === words);
    expect(here.root.querySelector('.back-from')?.getAttribute('title')).toBe(`1.4.0: ${HOSTILE[0]}`);
    expect(badge('Offline, was updating')).toBeDefined();
    expect(badge('Updating…')).toBeDefined();
    expect(here.root.querySelector('img')).toBeNull();
    await accessible();
  });
});
