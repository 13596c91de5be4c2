// Measures the pages against a made-up backend: the list of many devices while it is opened, changes and is scrolled, and a
// long answer in the workspace. Shares and tasks are processor time of the page's main thread.

import type { Browser } from 'playwright-core';

import { answerCost, talk, tokensOf, worldOfTalker, type Shape } from './answers.ts';
import { change, changing, heap, openingCost, openList, scrolling, type Opening } from './lists.ts';
import { opened } from './page_cost.ts';
import { goal, held, median, quantile, type Report } from './report.ts';
import { serve } from './server.ts';
import { worldOf } from './world.ts';

/** How many times slower the processor of the slow page is. */
export const SLOWED = 4;
/** How often the list is opened; the middle one counts. */
const OPENINGS = 5;
const CHANGES = 200;
const CHANGING = 20;
/** How many changes an hour has, and how fast they are sent. */
const HOUR = CHANGES * 3_600;
const HURRIED = 4_000;
/** How much a heap may differ, in bytes, by what the browser keeps of its own: 6 for each change. To keep anything of each
 * change takes several times as much. */
const SAME_HEAP = 4e6;

export interface Options {
  devices: number;
  tokens: number;
  shapes: readonly Shape[];
  /** The folder of other built pages. */
  built: string | undefined;
}

export async function measureLists(browser: Browser, report: Report, { devices, built }: Options): Promise<void> {
  const fake = await serve(worldOf('many', devices), built);
  const many = devices.toLocaleString('en');
  try {
    const openings: Opening[] = [];
    for (let run = 0; run < OPENINGS; run += 1) {
      const one = await opened(browser, fake.origin, SLOWED);
      openings.push(await openingCost(browser, one, fake.origin, devices));
      await one.page.context().close();
    }
    const middle = (name: keyof Opening): number => median(openings.map((one) => one[name]));
    report.table(`list of ${many} devices, processor ${SLOWED} times slower, median of ${OPENINGS}`);
    report.row('first content', middle('first'), ' ms', goal(1_000));
    report.row('first row', middle('row'), ' ms', goal(2_000));
    report.row('all devices', middle('all'), ' ms', goal(4_000));
    report.row('longest task', middle('longest'), ' ms', held(250));
    report.row('keystroke to result', middle('keystroke'), ' ms', goal(150));
    for (const slowed of [1, SLOWED]) {
      const one = await openList(browser, fake, slowed);
      const { share, longest, wrong } = await changing(browser, one, fake, CHANGES, CHANGING);
      report.table(`${CHANGES} changes a second${slowed === 1 ? '' : `, processor ${slowed} times slower`}`);
      report.row('main thread', share * 100, ' %', slowed === 1 ? held(10) : null, 1);
      report.row('longest task', longest, ' ms', slowed === 1 ? null : held(250));
      report.row('rows that differ from the backend in the end', wrong, '', held(0));
      const { frames, cost } = await scrolling(one);
      report.row('main thread for a frame while the list is scrolled by a quarter of a screen', cost, ' ms', held(slowed === 1 ? 20 : 50), 1);
      report.row('frame while it is scrolled, p95', quantile(frames, 0.95), ' ms', goal(slowed === 1 ? 20 : 50), 1);
      report.row(`frames of more than 50 ms, of ${frames.length}`, frames.filter((length) => length > 50).length, '');
      report.row('rows in the document', await one.page.locator('.device-row[data-state]').count(), '', held(60));
      await one.page.context().close();
    }
    const one = await openList(browser, fake, 1);
    report.table(`heap over ${HOUR.toLocaleString('en')} changes, those of an hour`);
    // What the browser compiles and keeps at the first changes is no growth.
    await change(fake, HURRIED * 10, HURRIED);
    const before = await heap(one);
    await change(fake, HOUR, HURRIED);
    const after = await heap(one);
    report.row('before', before / 1e6, ' MB', held(40), 1);
    report.row('after', after / 1e6, ' MB', held(40), 1);
    report.row('growth', (after - before) / 1e6, ' MB', held(SAME_HEAP / 1e6), 1);
    await one.page.context().close();
  } finally {
    await fake.close();
  }
}

export async function measureAnswers(browser: Browser, report: Report, { tokens, shapes, built }: Options): Promise<void> {
  const talker = await talk();
  const fake = await serve(worldOfTalker(talker.port), built);
  try {
    for (const shape of shapes) {
      talker.tokens = tokensOf(shape, tokens);
      const { shares, longest, after } = await answerCost(browser, fake, talker, SLOWED);
      const mean = (from: number, to: number): number => shares.slice(from, to).reduce((sum, { task }) => sum + task, 0) / (to - from);
      report.table(`answer of ${tokens.toLocaleString('en')} tokens (${shape}), processor ${SLOWED} times slower`);
      report.row('main thread', mean(0, 10) * 100, ' %', held(50), 1);
      report.row('main thread, first fifth', mean(0, 2) * 100, ' %', null, 1);
      report.row('main thread, last fifth', mean(8, 10) * 100, ' %', null, 1);
      report.row('last fifth to first fifth', mean(8, 10) / mean(0, 2), '', held(1.3), 2);
      report.row('longest task', longest, ' ms', held(100));
      report.row('from the last token to the whole answer', after, ' ms');
    }
  } finally {
    talker.close();
    await fake.close();
  }
}
