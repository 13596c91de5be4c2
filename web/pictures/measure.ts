// Measures the pages: bytes, counts, processor time and heap against their budgets (exit code 1 above one), and times by the
// clock, which are goals. With an address, a real backend with many devices is measured first; the rest is made up.
//   node pictures/measure.ts [--devices N] [--tokens N] [--shapes mixed,code,…] [--built DIR] [URL EMAIL PASSWORD-FILE]

import { readFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';

import { chromium, type Browser, type CDPSession, type Page } from 'playwright-core';

import { SHAPES } from './answers.ts';
import { CHROMIUM } from './browser.ts';
import { keystrokeCost, whole } from './lists.ts';
import { measureAnswers, measureLists, SLOWED } from './made_up.ts';
import { goal, held, Report } from './report.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    devices: { type: 'string', default: '10000' }, tokens: { type: 'string', default: '20000' },
    shapes: { type: 'string', default: 'mixed' }, built: { type: 'string' },
  },
});
const [url, email = '', passwordFile = ''] = positionals;
const DEVICES = Number(values.devices);
/** How long an idle page is watched, in milliseconds. */
const IDLE = 20_000;

const report = new Report((line) => void process.stdout.write(`${line}\n`));

interface Opened {
  page: Page;
  protocol: CDPSession;
  requests: string[];
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
  protocol.on('Network.requestWillBeSent', ({ request }) => requests.push(new URL(request.url).pathname));
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
  return { page, protocol, requests };
}

interface Seen {
  long: number;
  first: number;
  row: number;
}
const seenOn = (page: Page): Promise<Seen> => page.evaluate(() => (globalThis as unknown as { seen: Seen }).seen);

async function metric(protocol: CDPSession, name: string): Promise<number> {
  const { metrics } = await protocol.send('Performance.getMetrics');
  return metrics.find((one) => one.name === name)?.value ?? 0;
}

async function look(browser: Browser, slowed: number): Promise<void> {
  report.table(`list of ${DEVICES.toLocaleString('en')} devices of a real backend${slowed === 1 ? '' : `, processor ${slowed} times slower`}`);
  const { page, protocol, requests } = await open(browser, slowed);
  requests.length = 0;
  await page.goto(`${url}/devices`);
  await whole(page, DEVICES);
  const all = await page.evaluate(() => performance.now());
  const { long, first, row } = await seenOn(page);
  report.row('first content', first, ' ms', slowed === 1 ? null : goal(1_000));
  report.row('first row', row, ' ms', slowed === 1 ? null : goal(2_000));
  report.row('all devices', all, ' ms', slowed === 1 ? null : goal(4_000));
  report.row('longest task by the clock', long, ' ms', slowed === 1 ? null : goal(250));
  report.row('keystroke to result', await keystrokeCost(page), ' ms', slowed === 1 ? null : goal(150));
  if (slowed === 1) {
    // The bodies, as `xtask web` counts them on the built files; the heads of the answers are not theirs.
    const { bytes, files } = await page.evaluate((until) => {
      const loaded = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      const code = loaded.filter(({ name }) => /\.(js|css)$/.test(new URL(name).pathname));
      return {
        bytes: code.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
        files: loaded.filter(({ name, responseEnd }) => responseEnd < until && !name.includes('/api/')).length,
      };
    }, first);
    report.row('scripts and style sheets', bytes, ' B', held(80_000));
    report.row('files before the first content, the page included', files + 1, '', held(4));
    report.row('rows in the document', await page.locator('.device-row[data-state]').count(), '', held(60));
    await protocol.send('HeapProfiler.collectGarbage');
    report.row('heap', (await metric(protocol, 'JSHeapUsedSize')) / 1e6, ' MB', held(40), 1);
    requests.length = 0;
    const [busy, began] = [await metric(protocol, 'TaskDuration'), Date.now()];
    await page.waitForTimeout(IDLE);
    const share = (((await metric(protocol, 'TaskDuration')) - busy) * 1_000) / (Date.now() - began);
    report.row(`requests of a page that is left alone for ${IDLE / 1_000} s`, requests.filter((path) => path !== '/api/v1/events').length, '', held(0));
    report.row('main thread while the devices report', share * 100, ' %', null, 1);
  }
  await page.context().close();
}

const load = (): string => loadavg()[0]?.toFixed(1) ?? '';
process.stdout.write(`load ${load()} at the start\n`);
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
try {
  if (url) {
    await look(browser, 1);
    await look(browser, SLOWED);
  }
  const shapes = SHAPES.filter((shape) => values.shapes.split(',').includes(shape));
  const options = { devices: DEVICES, tokens: Number(values.tokens), shapes, built: values.built };
  await measureLists(browser, report, options);
  await measureAnswers(browser, report, options);
} finally {
  await browser.close();
}
process.stdout.write(`\nload ${load()} at the end\n`);
for (const what of report.over) process.stdout.write(`over its budget: ${what}\n`);
process.exitCode = report.over.length > 0 ? 1 : 0;
