// The list of many devices: how fast it is there, what changes of it take, how it scrolls, and how large it grows.

import type { Browser, Page } from 'playwright-core';

import { opened, shareOf, taken, watchTasks, type Opened } from './page_cost.ts';
import type { Fake } from './server.ts';
import type { Device } from '../src/data/types.ts';
import { noise } from './world.ts';

/** How often a backend tells what has changed, in milliseconds: changes of one thing in that time are one. */
const COALESCED = 250;
/** How many frames the list is scrolled. */
const SCROLLED = 400;

export interface Opening {
  first: number;
  row: number;
  all: number;
  longest: number;
  keystroke: number;
}

/** Opens the list until every device is there, and types one letter into its search. */
export async function openingCost(browser: Browser, { page }: Opened, origin: string, devices: number): Promise<Opening> {
  await page.addInitScript(() => {
    const seen = { first: 0, row: 0 };
    Object.assign(globalThis, { seen });
    new MutationObserver(() => {
      if (seen.first === 0 && document.querySelector('h1')) seen.first = performance.now();
      if (seen.row === 0 && document.querySelector('.device-row[data-state]')) seen.row = performance.now();
    }).observe(document, { childList: true, subtree: true });
  });
  const longest = await watchTasks(browser, page);
  await page.goto(`${origin}/devices`);
  await whole(page, devices);
  const all = await page.evaluate(() => performance.now());
  const seen = await page.evaluate(() => (globalThis as unknown as { seen: { first: number; row: number } }).seen);
  const keystroke = await keystrokeCost(page);
  return { ...seen, all, longest: await longest(), keystroke };
}

/** Waits until every device is in the list. */
export async function whole(page: Page, devices: number): Promise<void> {
  await page.getByText(`${devices.toLocaleString('en')} devices`, { exact: true }).waitFor({ timeout: 120_000 });
}

/** Returns how long after a keystroke no device matches, drawing included. The page itself looks: to look from outside takes
 * the slowed processor longer than the page does. */
export async function keystrokeCost(page: Page): Promise<number> {
  const result = page.evaluate(() => new Promise<number>((resolve) => {
    let typed = 0;
    addEventListener('keydown', () => (typed = performance.now()), { capture: true, once: true });
    new MutationObserver((_, observer) => {
      if (typed === 0 || ![...document.querySelectorAll('h2')].some(({ textContent }) => textContent === 'No device matches')) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - typed)));
    }).observe(document, { childList: true, subtree: true });
  }));
  const field = page.getByRole('searchbox').first();
  await field.press('z');
  const took = await result;
  await field.press('Backspace');
  await page.locator('.device-row[data-state]').first().waitFor();
  return took;
}

export interface Scrolled {
  /** The length of each frame by the clock, in milliseconds. */
  frames: number[];
  /** What a frame takes of the main thread, in milliseconds. */
  cost: number;
}

/** Scrolls down for some seconds, a screen in four frames, as a finger that flings the list does; then to the last row. */
export async function scrolling({ page, protocol }: Opened): Promise<Scrolled> {
  const before = await taken(protocol);
  const frames = await page.evaluate((frameCount) => new Promise<number[]>((resolve) => {
    const list = document.querySelector('.table-scroll');
    const step = (list?.clientHeight ?? 0) / 4;
    let top = 0;
    const found: number[] = [];
    let before = 0;
    const frame = (now: number): void => {
      if (before > 0) found.push(now - before);
      before = now;
      if (found.length >= frameCount || !list) {
        list?.scrollTo(0, list.scrollHeight);
        resolve(found);
      } else {
        // The place is not asked for: the page would be laid out at once.
        list.scrollTop = top += step;
        requestAnimationFrame(frame);
      }
    };
    requestAnimationFrame(frame);
  }), SCROLLED);
  const { task } = await taken(protocol);
  await page.evaluate(() => document.querySelector('.table-scroll')?.scrollTo(0, 0));
  return { frames, cost: ((task - before.task) * 1_000) / frames.length };
}

/** Returns a device as its next report makes it, the same at every run. */
function changed(device: Device, at: number): Device {
  const { system } = device;
  return {
    ...device,
    online: noise(at) > 0.05,
    ...(system ? { system: { ...system, cpu_percent: Math.round(noise(at + 0.5) * 1_000) / 10 } } : {}),
  };
}

let changes = 0;

/** Sends `count` changes at `rate` a second, each of another device, as the backend does. */
export async function change(fake: Fake, count: number, rate: number): Promise<void> {
  const { devices } = fake.world;
  const began = performance.now();
  for (let sent = 0; sent < count; ) {
    const due = Math.min(count, Math.ceil(((performance.now() - began + COALESCED) * rate) / 1_000));
    let words = '';
    for (; sent < due; sent += 1, changes += 1) {
      const at = (changes * 7_919) % devices.length;
      const before = devices[at];
      if (!before) continue;
      const device = changed(before, changes);
      devices[at] = device;
      // Nine of ten reports are of the load alone.
      const event = changes % 10 === 0 || device.online !== before.online
        ? { event: 'device', document: { kind: 'device', id: device.device_id, device_id: device.device_id, change: 'changed', item: device } }
        : { event: 'system', document: { kind: 'system', id: device.device_id, device_id: device.device_id, change: 'changed', item: { system: device.system } } };
      words += `id: ${changes + 2}\nevent: ${event.event}\ndata: ${JSON.stringify(event.document)}\n\n`;
    }
    for (const stream of fake.streams) stream.write(words);
    await new Promise((resolve) => setTimeout(resolve, COALESCED));
  }
}

export interface Changing {
  share: number;
  longest: number;
  /** Rows that do not show what the backend has. */
  wrong: number;
}

/** Sends changes for some seconds, and compares the list with the backend in the end. */
export async function changing(browser: Browser, { page, protocol }: Opened, fake: Fake, rate: number, seconds: number): Promise<Changing> {
  const longest = await watchTasks(browser, page);
  const before = await taken(protocol);
  await change(fake, rate * seconds, rate);
  const { task } = shareOf(before, await taken(protocol));
  return { share: task, longest: await longest(), wrong: await differing(page, fake) };
}

/** Counts rows that are not what the backend has, in a dozen places of the list. */
async function differing(page: Page, fake: Fake): Promise<number> {
  await page.waitForTimeout(1_500);
  const { devices } = fake.world;
  const known = new Map(devices.map((device) => [device.name, device]));
  let wrong = 0;
  for (let place = 0; place < 12; place += 1) {
    await page.evaluate((share) => {
      const list = document.querySelector('.table-scroll');
      list?.scrollTo(0, list.scrollHeight * share);
    }, place / 12);
    await page.waitForTimeout(200);
    const rows = await page.evaluate(() => [...document.querySelectorAll('.device-row[data-state]')].map((row) => ({
      name: row.querySelector('.name')?.textContent ?? '',
      state: row.getAttribute('data-state'),
      cpu: row.querySelector('.cpu')?.textContent ?? '',
    })));
    if (rows.length === 0) wrong += 1;
    for (const { name, state, cpu } of rows) {
      const device = known.get(name);
      const online = device?.online ? (device.status === 'updating' ? 'updating' : 'online') : 'offline';
      if (!device || state !== online || Math.abs(Number.parseFloat(cpu) - (device.system?.cpu_percent ?? 0)) > 0.51) wrong += 1;
    }
  }
  await page.evaluate(() => document.querySelector('.table-scroll')?.scrollTo(0, 0));
  return wrong;
}

/** Returns the bytes of the heap of scripts after the garbage is collected. */
export async function heap({ page, protocol }: Opened): Promise<number> {
  // What was sent last is taken.
  await page.waitForTimeout(3_000);
  await protocol.send('HeapProfiler.enable');
  await protocol.send('HeapProfiler.collectGarbage');
  await protocol.send('HeapProfiler.collectGarbage');
  const { usedSize } = await protocol.send('Runtime.getHeapUsage');
  await protocol.send('HeapProfiler.disable');
  return usedSize;
}

/** Opens the list without measuring how. */
export async function openList(browser: Browser, fake: Fake, slowed: number): Promise<Opened> {
  const one = await opened(browser, fake.origin, slowed);
  await one.page.goto(`${fake.origin}/devices`);
  await whole(one.page, fake.world.devices.length);
  return one;
}
