// Takes a picture of every page in every state and look with Debian's Chromium, and checks what a picture cannot fail: no
// message in the console, nothing wider than the screen, no violation that axe finds.
// What is hostile in the state `hostile` stays text.
//   node pictures/take.ts OUT [--only WORD] [--looks light,dark,…] [--worlds empty,one,…]

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

import { CHROMIUM, enter, settle } from './browser.ts';
import { SCREENS, type Screen } from './screens.ts';
import { serve, type Fake } from './server.ts';
import { worldOf, WORLDS, type WorldName } from './world.ts';

const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WIDE = { width: 1280, height: 800 };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;

/** How the pages are looked at. `narrow` and `large` are the limits of WCAG: 320 px, and text of twice the size. */
const LOOKS: Record<string, BrowserContextOptions & { zoom?: number }> = {
  light: { viewport: WIDE, colorScheme: 'light' },
  dark: { viewport: WIDE, colorScheme: 'dark' },
  phone: { ...PHONE, colorScheme: 'light' },
  narrow: { viewport: { width: 320, height: 640 }, colorScheme: 'light' },
  large: { viewport: WIDE, colorScheme: 'light', zoom: 2 },
  forced: { viewport: WIDE, forcedColors: 'active', reducedMotion: 'reduce' },
};
const USUAL = ['light', 'dark', 'phone'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { docs: { type: 'boolean', default: false }, only: { type: 'string' }, looks: { type: 'string' }, worlds: { type: 'string' } },
});
const out = positionals[0] ?? 'pictures';
const looks = values.looks?.split(',') ?? USUAL;
/** A state of the account, or one in which every read fails or others have written what is hostile. */
type State = WorldName | 'broken' | 'hostile';
const BASE: Partial<Record<State, WorldName>> = { broken: 'many', hostile: 'failing' };
const worlds = (values.worlds?.split(',') ?? [...WORLDS, 'broken', 'hostile']) as State[];
const screens = SCREENS.filter(({ name }) => name.includes(values.only ?? ''));

/** The pictures of the documentation: page, state and look. */
const DOCS: readonly string[] = [
  'overview-failing-light', 'devices-many-light', 'device-performance-many-dark', 'deployments-failing-phone',
  'workspace-refused-failing-light', 'workspace-answer-many-light',
];

const faults: string[] = [];
await mkdir(out, { recursive: true });
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
let taken = 0;
try {
  // The pages wait more than they compute, and each look has a backend of its own.
  for (const world of worlds) {
    const counts = await Promise.all(looks.map((look) => seen(browser, world, look)));
    taken += counts.reduce((sum, count) => sum + count, 0);
  }
} finally {
  await browser.close();
}
process.stdout.write(`${taken} pictures in ${out}\n`);
for (const fault of faults) process.stdout.write(`fault: ${fault}\n`);
process.exitCode = faults.length > 0 || taken === 0 ? 1 : 0;

/** Takes the pictures of one state in one look, of a backend of their own. Returns how many. */
async function seen(within: Browser, world: State, look: string): Promise<number> {
  const fake = await serve(worldOf(BASE[world] ?? (world as WorldName)));
  fake.broken = world === 'broken';
  fake.hostile = world === 'hostile';
  try {
    return await walk(within, fake, world, look);
  } finally {
    await fake.close();
  }
}

async function walk(within: Browser, served: Fake, world: State, look: string): Promise<number> {
  const options = LOOKS[look];
  if (!options) throw new Error(`there is no look ${look}: ${Object.keys(LOOKS).join(', ')}`);
  const { zoom = 1, ...shown } = options;
  const wanted = screens.filter((screen) => isWanted(screen, world) && (!values.docs || DOCS.includes(`${screen.name}-${world}-${look}`)));
  for (const screen of wanted) {
    const where = `${screen.name} ${world} ${look}`;
    const page = await enter(within, shown, { signedIn: screen.open !== true, zoom });
    page.on('console', (message) => {
      const expected = /status of (400|401|404|413|500|502|503)|net::ERR_FAILED|has been blocked by CORS/.test(message.text());
      if (message.type() === 'error' && !expected) faults.push(`${where}: ${message.text()}`);
    });
    page.on('pageerror', (error) => faults.push(`${where}: ${error.message}`));
    await screen.before?.(page, served);
    await page.goto((screen.from ?? served.origin) + screen.path(served.world));
    await settle(page);
    await screen.act?.(page, served).catch((error: unknown) => faults.push(`${where}: ${String(error).split('\n')[0]}`));
    await settle(page);
    if (values.docs) await small(page, join(out, `${screen.name}.webp`));
    else await page.screenshot({ path: join(out, `${screen.name}-${world}-${look}.png`) });
    faults.push(...(await judged(page)).map((fault) => `${where}: ${fault}`));
    await page.context().close();
  }
  return wanted.length;
}

function isWanted({ worlds: differing = WORLDS, broken, hostile, act, open }: Screen, world: State): boolean {
  if (world === 'broken') return broken === true;
  if (world === 'hostile') return hostile === true || (!act && !open && differing.includes('failing'));
  return differing.includes(world);
}

/** Takes a picture of few bytes. */
async function small(page: Page, path: string): Promise<void> {
  const protocol = await page.context().newCDPSession(page);
  const { data } = await protocol.send('Page.captureScreenshot', { format: 'webp', quality: 70 });
  await writeFile(path, Buffer.from(data, 'base64'));
}

/** Returns what is wrong with a page besides its looks. */
async function judged(page: Page): Promise<string[]> {
  const found: string[] = [];
  const overhang = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (overhang > 0) found.push(`${overhang} px wider than the screen`);
  const heights = await page.evaluate(() => [...document.querySelectorAll('.list-rows, .table-rows')].map((group) =>
    [...group.querySelectorAll(':scope > [role=row]')].map((row) => row.getBoundingClientRect().height)));
  const taken = await page.evaluate(() => document.documentElement.dataset['owned'] !== undefined || document.querySelector('img[src=x], iframe, [href^="javascript:"], [onerror]') !== null);
  if (taken) found.push('what somebody has written became a part of the page');
  if (heights.some((group) => new Set(group).size > 1)) found.push(`rows have several heights: ${JSON.stringify(heights)}`);
  // The policy of the pages lets no script in: the protocol of the browser is not bound by it.
  const protocol = await page.context().newCDPSession(page);
  await protocol.send('Runtime.evaluate', { expression: AXE });
  const violations = await page.evaluate(async () => {
    const axe = (globalThis as unknown as { axe?: { run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } }).axe;
    if (!axe) return ['axe did not start'];
    const result = await axe.run();
    return result.violations.map(({ id, nodes }) => `axe ${id} (${nodes.length}): ${nodes[0]?.html.slice(0, 160)}`);
  });
  return [...found, ...violations];
}
