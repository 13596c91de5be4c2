// Two tabs of one browser in one conversation, on the browser's own database: both ask at once, each shows what the other one does,
// a reload loses nothing, and what one of them deletes is gone in both.

import type { Page } from 'playwright-core';

import { settle } from '../browser.ts';
import { MODEL } from '../causes.ts';
import { worldOf } from '../world.ts';
import { is, served, watched, type Day } from './day.ts';

const HEADERS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };

/** Lets the model answer with the words of the question, once each answer is let go. */
async function answering(page: Page): Promise<() => void> {
  let letGo: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => (letGo = resolve));
  await page.context().route(MODEL, async (route) => {
    const { messages } = (route.request().postDataJSON() ?? {}) as { messages?: { content: string }[] };
    const words = messages?.at(-1)?.content ?? '';
    if (words.startsWith('Slow')) await gone;
    const piece = JSON.stringify({ choices: [{ delta: { content: `Answer to ${words}` } }] });
    await route.fulfill({ contentType: 'text/event-stream', body: `data: ${piece}\n\ndata: [DONE]\n\n`, headers: HEADERS });
  });
  return letGo;
}

async function ask(page: Page, question: string): Promise<void> {
  await page.locator('#message').fill(question);
  await page.locator('#message').press('Enter');
}

const answered = (page: Page, question: string): Promise<boolean> =>
  page.locator('.answered', { hasText: `Answer to ${question}` }).waitFor({ timeout: 10_000 }).then(() => true, () => false);

/** The questions that a tab shows, in an order of their own: which of two comes first is not promised. */
const questions = async (page: Page): Promise<string[]> => (await page.locator('.asked .text').allInnerTexts()).toSorted();

const both: Day = (browser, check) =>
  served(worldOf('many'), async (fake) => {
    const { page: one, unhandled } = await watched(browser);
    const letGo = await answering(one);
    await one.goto(`${fake.origin}/workspace`);
    await settle(one);
    await ask(one, 'First.');
    check('two tabs: the first question is answered', is(await answered(one, 'First.'), true));
    const two = await one.context().newPage();
    await two.goto(one.url());
    check('two tabs: the second one shows the conversation', is(await answered(two, 'First.'), true));
    await ask(one, 'Slow.');
    await two.locator('.asked', { hasText: 'Slow.' }).waitFor({ timeout: 10_000 }).catch(() => undefined);
    await ask(two, 'Quick.');
    check('two tabs: the first one shows what the second one asks', is(await answered(one, 'Quick.'), true));
    letGo();
    check('two tabs: the second one shows the answer that took longer', is(await answered(two, 'Slow.'), true));
    for (const [name, page] of [['first', one], ['second', two]] as const) {
      check(`two tabs: the ${name} one has all questions`, is(await questions(page), ['First.', 'Quick.', 'Slow.']));
      await page.reload();
      await answered(page, 'Slow.');
      check(`two tabs: the ${name} one has them after a reload`, is(await questions(page), ['First.', 'Quick.', 'Slow.']));
    }
    await two.locator('#message').fill('Half a question');
    await one.getByRole('button', { name: /^Delete First/ }).click();
    await one.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await two.getByText('was deleted in another tab').waitFor({ timeout: 10_000 }).catch(() => undefined);
    const said = await two.getByText('was deleted in another tab').count();
    check('two tabs: the second one says what the first one has deleted', is(said, 1));
    check('two tabs: the second one keeps what was typed', is(await two.locator('#message').inputValue(), 'Half a question'));
    check('two tabs: neither has the conversation', is([...(await questions(one)), ...(await questions(two))], []));
    check('two tabs: nothing is thrown', unhandled());
    await one.context().close();
  });

/** Tabs that hear nothing of each other: what they keep is joined in the database alone. */
const deaf: Day = (browser, check) =>
  served(worldOf('many'), async (fake) => {
    const { page: one, unhandled } = await watched(browser);
    await answering(one);
    await one.context().addInitScript(() => Reflect.deleteProperty(globalThis, 'BroadcastChannel'));
    await one.goto(`${fake.origin}/workspace`);
    await settle(one);
    await ask(one, 'First.');
    await answered(one, 'First.');
    const two = await one.context().newPage();
    await two.goto(one.url());
    await answered(two, 'First.');
    for (const [page, question] of [[one, 'Of one.'], [two, 'Of two.'], [one, 'Of one again.']] as const) {
      await ask(page, question);
      check(`two deaf tabs: ${question} is answered`, is(await answered(page, question), true));
    }
    for (const page of [one, two]) {
      await page.reload();
      await answered(page, 'Of two.');
      const wanted = ['First.', 'Of one again.', 'Of one.', 'Of two.'];
      check('two deaf tabs: a reload shows what both have asked', is(await questions(page), wanted));
    }
    check('two deaf tabs: nothing is thrown', unhandled());
    await one.context().close();
  });

export const TABS: readonly Day[] = [both, deaf];
