// A conversation of a thousand turns: only the turns in sight are in the document, what is read keeps its place while turns above
// it come, and a question that is being edited stays wherever the log is scrolled.

import type { Page } from 'playwright-core';

import { settle } from '../browser.ts';
import { ME } from '../server.ts';
import { worldOf } from '../world.ts';
import { is, served, watched, type Day } from './day.ts';

const TURNS = 1_000;
/** What may be in the document: what is in sight, some turns on either side, and the last one. */
const MOST = 40;

/** Keeps a conversation in the browser, with answers of many heights. */
const keep = (page: Page): Promise<void> =>
  page.evaluate(([user, count]) => new Promise<void>((resolve, reject) => {
    const turns = Array.from({ length: count }, (_, at) => ({
      id: `turn_${at}`, question: `Question ${at}.`, model: 'gemma', thought: '', figures: null, state: 'complete',
      answer: Array.from({ length: 1 + ((at * 7) % 23) }, (__, line) => `Line ${line} of answer ${at}, with **strong** words.`).join('\n\n'),
    }));
    const sampling = { temperature: null, top_p: null, max_tokens: null };
    const opening = indexedDB.open(`link-workspace.${user}`);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const writing = opening.result.transaction('conversations', 'readwrite');
      writing.objectStore('conversations').put({ id: 'long', title: 'Long', created: 1, changed: 2, system: '', sampling, turns });
      writing.oncomplete = () => resolve();
    };
  }), [ME.user_id, TURNS] as const);

const drawn = (page: Page): Promise<number> => page.locator('.exchange').count();

/** Scrolls the log by pixels, as a wheel does, and waits until it has settled. */
async function scroll(page: Page, by: number): Promise<void> {
  await page.locator('#log').hover();
  await page.mouse.wheel(0, by);
  await page.waitForTimeout(250);
}

/** Scrolls up step by step. Returns by how much a turn in sight moved beside what was scrolled, at most. */
async function drift(page: Page, steps: number): Promise<number> {
  let most = 0;
  for (let step = 0; step < steps; step += 1) {
    const seen = await page.evaluate(() => {
      const log = document.querySelector('#log')?.getBoundingClientRect();
      const all = [...document.querySelectorAll<HTMLElement>('.exchange')];
      const first = all.find((one) => one.getBoundingClientRect().bottom > (log?.top ?? 0) + 10);
      return { index: first?.dataset['index'], top: first?.getBoundingClientRect().top ?? 0 };
    });
    await scroll(page, -150);
    const after = await page.locator(`.exchange[data-index="${seen.index}"]`).boundingBox();
    if (after) most = Math.max(most, Math.abs(after.y - seen.top - 150));
  }
  return most;
}

const long: Day = (browser, check) =>
  served(worldOf('many'), async (fake) => {
    const { page, unhandled } = await watched(browser);
    await page.goto(`${fake.origin}/workspace`);
    await settle(page);
    await keep(page);
    await page.goto(`${fake.origin}/workspace?conversation=long`);
    await page.getByText(`Question ${TURNS - 1}.`).waitFor();
    await page.waitForTimeout(500);
    check('long conversation: it opens at its end', is(await page.evaluate(() => {
      const log = document.querySelector('#log');
      return log ? Math.round(log.scrollHeight - log.scrollTop - log.clientHeight) : -1;
    }), 0));
    check('long conversation: few turns are in the document', (await drawn(page)) <= MOST ? null : `${await drawn(page)} turns`);
    const moved = await drift(page, 30);
    check('long conversation: what is read keeps its place while it is scrolled up', moved <= 2 ? null : `a turn moved by ${moved} px`);
    const edited = page.locator('.exchange:has(.text)').nth(3);
    const index = await edited.getAttribute('data-index');
    await edited.locator('[data-turn=edit]').click();
    await page.locator('.edit textarea').fill('Changed words.');
    await page.evaluate(() => document.querySelector('#log')?.scrollTo(0, 0));
    await page.getByText('Question 0.', { exact: true }).waitFor();
    check('long conversation: its first turn is reached', is(await page.getByText('Question 0.', { exact: true }).count(), 1));
    check('long conversation: few turns are in the document at its begin', (await drawn(page)) <= MOST ? null : `${await drawn(page)} turns`);
    check('long conversation: an edited question stays', is(
      [await page.locator('.edit textarea').inputValue(), await page.locator('.exchange:has(.edit)').getAttribute('data-index')],
      ['Changed words.', index],
    ));
    check('long conversation: nothing is thrown', unhandled());
    await page.context().close();
  });

export const LONG_CONVERSATION: readonly Day[] = [long];
