// Checks every page in Debian's Chromium without a picture: no message in the console, nothing wider than the screen, no violation
// that axe finds in light or dark colours. A page with a fault has its picture taken.
//   node pictures/check.ts OUT [WORD]

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { chromium } from 'playwright-core';

import { CHROMIUM } from './browser.ts';
import { judged } from './judge.ts';
import { SCREENS } from './screens.ts';
import { walk, type State } from './walk.ts';

/** What is looked at, and how. The longest come first, so that no lane is left with one at the end. */
const ROUNDS: readonly (readonly [State, string])[] = [
  ['many', 'light'], ['many', 'exact-phone'], ['hostile', 'narrow'], ['hostile', 'light'], ['failing', 'narrow'], ['failing', 'large'], ['failing', 'forced'], ['failing', 'exact-phone'],
  ['bare', 'light'], ['empty', 'light'], ['empty', 'narrow'], ['loading', 'light'], ['broken', 'light'], ['spiteful', 'narrow'], ['failing', 'tablet'],
];
/** The screens that only an account with many things has. The dialogs among them are looked at where they are opened by keyboard. */
const OTHERS = SCREENS.filter(({ worlds, dialog }) => worlds && !worlds.some((world) => world !== 'many') && !dialog);
/** How many pages are open at a time: a page waits a little more than it computes. */
const LANES = 3;

const [out = 'pictures', word = ''] = process.argv.slice(2);
const faults: string[] = [];
const left = ROUNDS.filter((round) => round.join(' ').includes(word));
let seen = 0;
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });

/** Takes one round after the other. */
async function lane(): Promise<void> {
  for (let round = left.shift(); round; round = left.shift()) {
    const [world, look] = round;
    const began = performance.now();
    // Colours that are forced are neither light nor dark.
    const dark = look !== 'forced';
    const count = await walk(browser, { world, look, screens: world === 'many' ? OTHERS : SCREENS, see: async (page, { name }) => {
      const found = await judged(page, { dark });
      if (found.length > 0) {
        await mkdir(out, { recursive: true });
        await page.screenshot({ path: join(out, `${name}-${world}-${look}.png`) });
      }
      return found;
    } }, faults);
    seen += count;
    process.stdout.write(`${world} ${look}: ${count} pages, ${Math.round((performance.now() - began) / 1000)} s\n`);
  }
}

try {
  await Promise.all(Array.from({ length: LANES }, lane));
} finally {
  await browser.close();
}
process.stdout.write(`${seen} pages in Chromium\n`);
for (const fault of faults) process.stdout.write(`fault: ${fault}\n`);
process.exitCode = faults.length > 0 || seen === 0 ? 1 : 0;
