// A device that comes and goes every second. What is shown follows it, but nothing that a person is at is taken away: neither the
// focus, nor a dialog, nor the place of what is about to be pressed. Nobody is told of it without end.

import type { Page } from 'playwright-core';

import { settle } from '../browser.ts';
import type { Fake } from '../server.ts';
import type { Device } from '../../src/data/types.ts';
import { worldOf } from '../world.ts';
import { is, NARROW, served, watched, WIDE, type Check, type Day } from './day.ts';

/** How often the device changes, and how long it stays so, in milliseconds. */
const FLAPS = 4;
const EVERY = 1_000;
/** How many changes of live regions in this time are still no flood: two of them may speak. */
const MOST_SAID = 2;

let events = 1;

/** Has a device come and go, and looks after each change once it is drawn. */
async function flap(fake: Fake, device: Device, look: () => Promise<void>): Promise<void> {
  for (let flaps = 0; flaps < FLAPS; flaps += 1) {
    device.online = !device.online;
    const change = { kind: 'device', id: device.device_id, device_id: device.device_id, change: 'changed', item: device };
    events += 1;
    for (const stream of fake.streams) stream.write(`id: ${events}\nevent: device\ndata: ${JSON.stringify(change)}\n\n`);
    await new Promise((resolve) => setTimeout(resolve, EVERY));
    await look();
  }
}

/** Counts from now on how often something is said by the live regions of the page. What is the same again is not said. */
async function listen(page: Page): Promise<() => Promise<string | null>> {
  await page.evaluate(() => {
    const said: string[] = [];
    Object.assign(globalThis, { said });
    const words = new WeakMap<Element, string>();
    const regions = (): Element[] => [...document.querySelectorAll('[role=status], [role=alert], [aria-live]:not([aria-live=off])')];
    for (const region of regions()) words.set(region, region.textContent ?? '');
    new MutationObserver(() => {
      for (const region of regions()) {
        const now = region.textContent ?? '';
        if (now !== '' && now !== (words.get(region) ?? '')) said.push(now);
        words.set(region, now);
      }
    }).observe(document, { childList: true, subtree: true, characterData: true });
  });
  return async () => {
    const said = await page.evaluate(() => (globalThis as unknown as { said: string[] }).said);
    return said.length > MOST_SAID ? `${said.length} times: ${said.slice(0, 4).join(' | ')}` : null;
  };
}

/** What has the focus, in words. */
const atFocus = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const at = document.activeElement;
    if (at === null || at === document.body) return 'nothing';
    return at.getAttribute('aria-label') ?? at.getAttribute('name') ?? at.getAttribute('data-action') ?? at.textContent?.trim().slice(0, 60) ?? at.tagName;
  });

const elements = (page: Page): Promise<number> => page.evaluate(() => document.querySelectorAll('*').length);

/** The states of a thing that comes and goes: more than these, and it grows. */
const grown = (counts: readonly number[]): string | null => (new Set(counts).size > 2 ? `${counts.join(', ')} elements` : null);

const list: Day = (browser, check) =>
  served(worldOf('many'), async (fake) => {
    const { page, unhandled } = await watched(browser);
    await page.goto(`${fake.origin}/devices`);
    await settle(page);
    const device = named(fake, 'depot-03');
    const row = page.locator('.device-row', { hasText: device.name });
    await row.getByRole('checkbox').focus();
    const said = await listen(page);
    const [focus, place] = [await atFocus(page), await row.boundingBox()];
    const [counts, places, states]: [number[], string[], string[]] = [[], [], []];
    await flap(fake, device, async () => {
      counts.push(await elements(page));
      places.push(JSON.stringify(await row.boundingBox()));
      states.push((await row.getAttribute('data-state')) ?? '');
    });
    check('list: the row shows each change', is(states, ['offline', 'online', 'offline', 'online']));
    check('list: the row keeps its place', places.every((one) => one === JSON.stringify(place)) ? null : places.join(' '));
    check('list: the focus stays at its row', is(await atFocus(page), focus));
    check('list: the document does not grow', grown(counts));
    check('list: live regions say little', await said());
    await sorted(page, fake, check);
    check('list: nothing is thrown', unhandled());
    await page.context().close();
  });

/** Sorted by the state, the row moves from one end of the list to the other. */
async function sorted(page: Page, fake: Fake, check: Check): Promise<void> {
  await page.goto(`${fake.origin}/devices?sort=state`);
  await settle(page);
  const device = named(fake, (await page.locator('.device-row[data-state] .name').nth(2).textContent()) ?? '');
  await page.getByRole('checkbox', { name: `Select ${device.name}`, exact: true }).focus();
  const lost: string[] = [];
  await flap(fake, device, async () => {
    if ((await atFocus(page)) === 'nothing') lost.push(device.online ? 'online' : 'offline');
  });
  const last = await atFocus(page);
  const stays = last.includes(device.name) || last === 'Devices';
  check('list by state: the focus stays in the list while its row moves', lost.length > 0 ? `it was at nothing when the device was ${lost.join(', ')}` : stays ? null : last);
}

/** Of a list of what is offline, the row comes and goes, and with it what was ticked. */
const filtered: Day = (browser, check) =>
  served(worldOf('failing'), async (fake) => {
    const { page, unhandled } = await watched(browser);
    await page.goto(`${fake.origin}/devices?select=state%3Doffline`);
    await settle(page);
    const device = fake.world.devices.find(({ online }) => !online) as Device;
    await page.getByRole('checkbox', { name: `Select ${device.name}`, exact: true }).check();
    await page.getByRole('button', { name: /^Add tag/ }).click();
    const field = page.getByRole('dialog').getByRole('textbox');
    await field.fill('typed before');
    const said = await listen(page);
    const counts: number[] = [];
    let lost = 0;
    await flap(fake, device, async () => {
      counts.push(await elements(page));
      if ((await field.count()) === 0) lost += 1;
    });
    check('list of what is offline: the dialog stays with its text', lost > 0 ? `it was gone after ${lost} of ${FLAPS} changes` : is(await field.inputValue(), 'typed before'));
    check('list of what is offline: the focus stays in the dialog', is(await atFocus(page), 'words'));
    check('list of what is offline: the document does not grow', grown(counts));
    check('list of what is offline: live regions say little', await said());
    check('list of what is offline: nothing is thrown', unhandled());
    await page.context().close();
  });

const one = (shown: typeof WIDE | typeof NARROW): Day => (browser, check) =>
  served(worldOf('many'), async (fake) => {
    const width = `device, ${shown.viewport.width} px`;
    const { page, unhandled } = await watched(browser, shown);
    const device = fake.world.devices[2] as Device;
    await page.goto(`${fake.origin}/devices/${device.device_id}`);
    await settle(page);
    const repair = page.locator('.model [data-action=repair]').first();
    const menu = page.locator('.model .menu summary').last();
    await repair.focus();
    const said = await listen(page);
    const before = await menu.boundingBox();
    const [counts, moved, lost]: [number[], string[], number[]] = [[], [], []];
    await flap(fake, device, async () => {
      counts.push(await elements(page));
      const place = await menu.boundingBox();
      if (place?.y !== before?.y || place?.x !== before?.x) moved.push(`${place?.x},${place?.y}`);
      if ((await atFocus(page)) !== 'repair') lost.push(counts.length);
    });
    check(`${width}: the focus stays at its button`, lost.length > 0 ? `${await atFocus(page)}, lost at change ${lost.join(', ')}` : null);
    check(`${width}: buttons stay in their places`, moved.length > 0 ? `${before?.x},${before?.y} went to ${moved.join(' ')}` : null);
    check(`${width}: the document does not grow`, grown(counts));
    check(`${width}: live regions say little`, await said());
    if (shown === WIDE) await inDialog(page, fake, device, check);
    check(`${width}: nothing is thrown`, unhandled());
    await page.context().close();
  });

/** A dialog of the device is open meanwhile, with what was typed. */
async function inDialog(page: Page, fake: Fake, device: Device, check: Check): Promise<void> {
  const menu = page.locator('.model .menu').first();
  await menu.locator('summary').click();
  await menu.locator('[data-action=port]').click();
  const field = page.getByRole('dialog').getByRole('spinbutton');
  await field.fill('8123');
  let lost = 0;
  await flap(fake, device, async () => {
    if ((await field.count()) === 0) lost += 1;
  });
  check('device: a dialog stays with its text and the focus', lost > 0 ? `it was gone after ${lost} of ${FLAPS} changes` : is([await field.inputValue(), await atFocus(page)], ['8123', 'port']));
  await page.keyboard.press('Escape');
  await page.waitForTimeout(150);
  check('device: the focus returns to what opened the dialog', is(await atFocus(page), (await menu.locator('summary').getAttribute('aria-label')) ?? ''));
}

function named(fake: Fake, name: string): Device {
  const found = fake.world.devices.find((device) => device.name === name);
  if (!found) throw new Error(`there is no device ${name}`);
  return found;
}

export const FLAPPING: readonly Day[] = [list, one(WIDE), filtered, one(NARROW)];
