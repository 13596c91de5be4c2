// Bad days in Debian's Chromium, of which a picture shows nothing: a device that comes and goes every second, one with 200 models,
// a browser that stores nothing, two tabs in one conversation, a conversation of a thousand turns, a script that should not be
// there, an upload that goes on after a reload, and a page that nobody touches. `keyboard.ts` has the upgrade of the backend.
//   node pictures/bad_days.ts [WORD]

import { chromium } from 'playwright-core';

import type { Day } from './bad_days/day.ts';
import { FLAPPING } from './bad_days/flapping.ts';
import { IDLE } from './bad_days/idle.ts';
import { LONG_CONVERSATION } from './bad_days/long_conversation.ts';
import { MANY_MODELS } from './bad_days/many_models.ts';
import { POLICY } from './bad_days/policy.ts';
import { STORAGE } from './bad_days/storage.ts';
import { TABS } from './bad_days/tabs.ts';
import { UPLOADS } from './bad_days/uploads.ts';
import { CHROMIUM } from './browser.ts';

/** The longest ones are first. */
const DAYS: Readonly<Record<string, readonly Day[]>> = {
  flapping: FLAPPING, storage: STORAGE, uploads: UPLOADS, tabs: TABS, long: LONG_CONVERSATION, models: MANY_MODELS, policy: POLICY, idle: IDLE,
};
/** How many days there are at a time: a page waits more than it computes, most of all for a device that comes and goes. */
const LANES = 5;

const word = process.argv[2] ?? '';
let held = 0;
let failed = 0;
const check = (what: string, seen: string | null): void => {
  if (seen === null) held += 1;
  else failed += 1;
  process.stdout.write(seen === null ? `holds: ${what}\n` : `fault: ${what}: ${seen}\n`);
};
const left = Object.entries(DAYS).flatMap(([name, days]) => (name.includes(word) ? days.map((day) => ({ name, day })) : []));
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
const lane = async (): Promise<void> => {
  for (let one = left.shift(); one; one = left.shift()) {
    const { name, day } = one;
    await day(browser, check).catch((error: unknown) => check(`${name} can be tried to its end`, String(error).split('\n').slice(0, 4).join(' ')));
  }
};
try {
  await Promise.all(Array.from({ length: LANES }, lane));
} finally {
  await browser.close();
}
process.stdout.write(`${held + failed} checks of bad days, ${failed} failed\n`);
process.exitCode = failed > 0 || held === 0 ? 1 : 0;
