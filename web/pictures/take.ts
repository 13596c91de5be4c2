// Takes a picture of every page in every state and look with Debian's Chromium, and checks what a picture cannot fail: no
// message in the console, nothing wider than the screen, no violation that axe finds.
// What is hostile in the state `hostile` stays text.
//   node pictures/take.ts OUT [--only WORD] [--looks light,dark,…] [--worlds empty,one,…]

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { chromium, type Page } from 'playwright-core';

import { CHROMIUM } from './browser.ts';
import { judged } from './judge.ts';
import { SCREENS } from './screens.ts';
import { STATES, walk, type State } from './walk.ts';

const USUAL = ['light', 'dark', 'phone'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { docs: { type: 'boolean', default: false }, only: { type: 'string' }, looks: { type: 'string' }, worlds: { type: 'string' } },
});
const out = positionals[0] ?? 'pictures';
const looks = values.looks?.split(',') ?? USUAL;
const worlds = (values.worlds?.split(',') ?? STATES) as readonly State[];

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
    const counts = await Promise.all(looks.map((look) => pictured(world, look)));
    taken += counts.reduce((sum, count) => sum + count, 0);
  }
} finally {
  await browser.close();
}
process.stdout.write(`${taken} pictures in ${out}\n`);
for (const fault of faults) process.stdout.write(`fault: ${fault}\n`);
process.exitCode = faults.length > 0 || taken === 0 ? 1 : 0;

/** Takes the pictures of one state in one look. Returns how many. */
function pictured(world: State, look: string): Promise<number> {
  const named = SCREENS.filter(({ name }) => name.includes(values.only ?? ''));
  const screens = values.docs ? named.filter(({ name }) => DOCS.includes(`${name}-${world}-${look}`)) : named;
  return walk(browser, { world, look, screens, see: async (page, { name }) => {
    if (values.docs) await small(page, join(out, `${name}.webp`));
    else await page.screenshot({ path: join(out, `${name}-${world}-${look}.png`) });
    return judged(page);
  } }, faults);
}

/** Takes a picture of few bytes. */
async function small(page: Page, path: string): Promise<void> {
  const protocol = await page.context().newCDPSession(page);
  const { data } = await protocol.send('Page.captureScreenshot', { format: 'webp', quality: 70 });
  await writeFile(path, Buffer.from(data, 'base64'));
}
