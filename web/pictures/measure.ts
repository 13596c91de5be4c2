// Measures the pages against a real backend with many devices: bytes and counts against their budgets, times and processor
// for whoever reads them.
//   node pictures/measure.ts URL EMAIL PASSWORD-FILE DEVICES

import { readFile } from 'node:fs/promises';

import { chromium, type Browser, type CDPSession, type Page } from 'playwright-core';

import { CHROMIUM } from './browser.ts';

const [url = '', email = '', passwordFile = '', wanted = ''] = process.argv.slice(2);
const DEVICES = Number(wanted);
const SLOWED = 4;
/** How long an idle page is watched, in milliseconds. */
const IDLE = 20_000;

const failed: string[] = [];
const budget = (what: string, value: number, most: number, unit = ''): void => {
  process.stdout.write(`${what}: ${value.toLocaleString('en')}${unit} (at most ${most.toLocaleString('en')}${unit})\n`);
  if (value > most) failed.push(what);
};
const told = (what: string, value: string): void => void process.stdout.write(`${what}: ${value}\n`);
const ms = (value: number): string => `${Math.round(value)} ms`;

interface Opened {
  page: Page;
  protocol: CDPSession;
  requests: string[];
  assets: () => number;
}

async function open(browser: Browser, slowed: number): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const protocol = await context.newCDPSession(page);
  await page.goto(`${url}/login`);
  await page.locator('#email').fill(email);
  await page.locator('#password').fill((await readFile(passwordFile, 'utf8')).trim());
  await page.keyboard.press('Enter');
  await page.locator('.account .email').waitFor();
  await protocol.send('Network.enable');
  await protocol.send('Network.clearBrowserCache');
  await protocol.send('Performance.enable');
  await protocol.send('Emulation.setCPUThrottlingRate', { rate: slowed });
  const requests: string[] = [];
  const paths = new Map<string, string>();
  let bytes = 0;
  protocol.on('Network.requestWillBeSent', ({ requestId, request }) => {
    const { pathname } = new URL(request.url);
    paths.set(requestId, pathname);
    requests.push(pathname);
  });
  protocol.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (/\.(js|css)$/.test(paths.get(requestId) ?? '')) bytes += encodedDataLength;
  });
  await page.addInitScript(() => {
    const seen = { long: 0, first: 0, row: 0, all: 0 };
    Object.assign(globalThis, { seen });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.long = Math.max(seen.long, duration);
    }).observe({ type: 'longtask', buffered: true });
    const look = (): void => {
      if (seen.first === 0 && document.querySelector('h1')) seen.first = performance.now();
      if (seen.row === 0 && document.querySelector('.device-row[data-state]')) seen.row = performance.now();
    };
    new MutationObserver(look).observe(document, { childList: true, subtree: true });
  });
  return { page, protocol, requests, assets: () => bytes };
}

interface Seen {
  long: number;
  first: number;
  row: number;
}
const seenOn = (page: Page): Promise<Seen> => page.evaluate(() => (globalThis as unknown as { seen: Seen }).seen);

/** Returns how long after the next keystroke no device matches, drawing included. The page itself looks: to look from outside
 * takes the slowed processor longer than the page does. */
function watched(page: Page): Promise<number> {
  return page.evaluate(() => new Promise<number>((resolve) => {
    let typed = 0;
    addEventListener('keydown', () => (typed = performance.now()), { capture: true, once: true });
    new MutationObserver((_, observer) => {
      if (typed === 0 || ![...document.querySelectorAll('h2')].some(({ textContent }) => textContent === 'No device matches')) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - typed)));
    }).observe(document, { childList: true, subtree: true });
  }));
}

async function metric(protocol: CDPSession, name: string): Promise<number> {
  const { metrics } = await protocol.send('Performance.getMetrics');
  return metrics.find((one) => one.name === name)?.value ?? 0;
}

async function look(browser: Browser, slowed: number): Promise<void> {
  const name = slowed === 1 ? '' : `, processor slowed ${slowed} times`;
  const { page, protocol, requests, assets } = await open(browser, slowed);
  requests.length = 0;
  await page.goto(`${url}/devices`);
  await page.getByText(`${DEVICES.toLocaleString('en')} devices`, { exact: true }).waitFor({ timeout: 120_000 });
  const all = await page.evaluate(() => performance.now());
  const { long, first, row } = await seenOn(page);
  told(`first content${name}`, ms(first));
  told(`first row${name}`, ms(row));
  told(`all devices${name}`, ms(all));
  told(`longest task${name}`, ms(long));
  const field = page.getByRole('searchbox').first();
  const result = watched(page);
  await field.press('z');
  told(`keystroke to result${name}`, ms(await result));
  await field.press('Backspace');
  await page.locator('.device-row[data-state]').first().waitFor();
  if (slowed === 1) {
    budget('scripts and style sheets of the list', assets(), 80_000, ' B');
    const files = await page.evaluate(
      (until) => performance.getEntriesByType('resource').filter(({ name, startTime }) => startTime < until && !name.includes('/api/')).length,
      first,
    );
    told('requests for files before the first content, the page included', String(files + 1));
    budget('rows in the document', await page.locator('.device-row[data-state]').count(), 60);
    await protocol.send('HeapProfiler.collectGarbage');
    budget('heap', Math.round((await metric(protocol, 'JSHeapUsedSize')) / 1e6), 40, ' MB');
    requests.length = 0;
    const [busy, began] = [await metric(protocol, 'TaskDuration'), Date.now()];
    await page.waitForTimeout(IDLE);
    const share = (((await metric(protocol, 'TaskDuration')) - busy) * 1_000) / (Date.now() - began);
    budget(`requests of a page that is left alone for ${IDLE / 1_000} s`, requests.filter((path) => path !== '/api/v1/events').length, 0);
    told('main thread while the devices report', `${(share * 100).toFixed(1)} %`);
  }
  await page.context().close();
}

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
try {
  await look(browser, 1);
  await look(browser, SLOWED);
} finally {
  await browser.close();
}
for (const what of failed) process.stdout.write(`over its budget: ${what}\n`);
process.exitCode = failed.length > 0 ? 1 : 0;
