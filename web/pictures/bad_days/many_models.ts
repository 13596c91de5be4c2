// A device with 200 models: they are there at once, nothing reaches out of its place, and the keyboard finds the one that is meant.

import type { Page } from 'playwright-core';

import { settle } from '../browser.ts';
import { taken } from '../page_cost.ts';
import type { Deployment, Model } from '../../src/data/types.ts';
import { worldOf, type World } from '../world.ts';
import { crooked, is, NARROW, served, watched, WIDE, type Check, type Day } from './day.ts';

const MODELS = 200;
/** The most processor time of the main thread until all of them are drawn, in milliseconds, and after a change of one. */
const DRAWN = 1_500;
const CHANGED = 150;
/** How many steps of the keyboard may lie between the tab and what is looked for. */
const STEPS = 4;

/** An account with one device and many models on it, in every state. */
function crowded(): World {
  const [base, failing] = [worldOf('one'), worldOf('failing')];
  const [device, kind, like] = [base.devices[0], base.models[0], base.deployments[0]];
  if (!device || !kind || !like) throw new Error('the account is empty');
  const models = Array.from({ length: MODELS }, (_, at): Model => ({ ...kind, model_id: `mdl_${at}`, name: at % 40 === 7 ? `model-${at}-${'with-a-long-name-'.repeat(8)}` : `model-${at}` }));
  const deployments = models.map((model, at): Deployment => {
    const state = failing.deployments[at % failing.deployments.length] ?? like;
    return { ...state, deployment_id: `dpl_${at}`, model_id: model.model_id, model_name: model.name, alias: model.name, device_id: device.device_id, device_name: device.name, port: 8080 + at };
  });
  return { ...base, models, deployments };
}

const drawn = (count: number): boolean => document.querySelectorAll('.model').length === count;

/** What has the focus: its words, whether something shows it, and whether it is in sight. */
interface Stop {
  words: string;
  model: string;
  seen: boolean;
}
const focused = (page: Page): Promise<Stop> =>
  page.evaluate(() => {
    const one = document.activeElement ?? document.body;
    const { outlineStyle, boxShadow } = getComputedStyle(one);
    const { top, bottom, left, right } = one.getBoundingClientRect();
    // The browser scrolls by whole pixels, and what it lays out has fractions of them.
    const inSight = top > -1 && bottom < innerHeight + 1 && left > -1 && right < innerWidth + 1;
    return {
      words: one.getAttribute('aria-label') ?? one.textContent?.trim() ?? '',
      model: one.closest('.model')?.querySelector('.model-name')?.textContent ?? '',
      seen: inSight && (outlineStyle !== 'none' || boxShadow !== 'none'),
    };
  });

const looks = (shown: typeof WIDE | typeof NARROW): Day => (browser, check) =>
  served(crowded(), async (fake) => {
    const width = `${MODELS} models, ${shown.viewport.width} px`;
    const { page, unhandled } = await watched(browser, shown);
    const protocol = await page.context().newCDPSession(page);
    await protocol.send('Performance.enable', { timeDomain: 'threadTicks' });
    const path = `/devices/${fake.world.devices[0]?.device_id}`;
    const before = await taken(protocol);
    await page.goto(fake.origin + path);
    await page.waitForFunction(drawn, MODELS, { timeout: 10_000 }).catch(() => undefined);
    const took = Math.round(((await taken(protocol)).task - before.task) * 1_000);
    check(`${width}: all are there`, is(await page.locator('.model').count(), MODELS));
    check(`${width}: they are drawn in ${DRAWN} ms`, took > DRAWN ? `${took} ms` : null);
    await settle(page);
    check(`${width}: nothing reaches out of its place`, await crooked(page, '.model'));
    await byKeyboard(page, check, width);
    const rest = await taken(protocol);
    const [item] = fake.world.deployments;
    const change = { kind: 'deployment', id: item?.deployment_id, device_id: item?.device_id, change: 'changed', item: { ...item, port: 9_999 } };
    for (const stream of fake.streams) stream.write(`id: 2\nevent: deployment\ndata: ${JSON.stringify(change)}\n\n`);
    await page.waitForTimeout(800);
    const cost = Math.round(((await taken(protocol)).task - rest.task) * 1_000);
    check(`${width}: a change of one is drawn in ${CHANGED} ms`, cost > CHANGED ? `${cost} ms` : null);
    check(`${width}: nothing is thrown`, unhandled());
    await page.context().close();
  });

/** Looks for a model by its name, opens a dialog of it and comes back, without a pointer. */
async function byKeyboard(page: Page, check: Check, width: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Parts of this device' }).getByRole('link', { name: 'About' }).focus();
  const stops: Stop[] = [];
  for (let step = 0; step < STEPS && !stops.at(-1)?.words.startsWith('Search'); step += 1) {
    await page.keyboard.press('Tab');
    stops.push(await focused(page));
  }
  check(`${width}: a search is ${STEPS} steps away`, stops.at(-1)?.words.startsWith('Search') ? null : stops.map(({ words }) => words).join(', '));
  await page.keyboard.type('model-150');
  await page.waitForTimeout(100);
  check(`${width}: the search finds what is typed`, is(await page.locator('.model').count(), 1));
  for (let step = 0; step < 2 && !stops.at(-1)?.model; step += 1) {
    await page.keyboard.press('Tab');
    stops.push(await focused(page));
  }
  check(`${width}: the model is the next stop but one`, is(stops.at(-1)?.model, 'model-150'));
  const reach = async (words: string): Promise<void> => {
    for (let step = 0; step < 6 && !stops.at(-1)?.words.startsWith(words); step += 1) {
      await page.keyboard.press('Tab');
      stops.push(await focused(page));
    }
  };
  await reach('More');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Remove…' }).waitFor({ timeout: 3_000 }).catch(() => undefined);
  await reach('Remove');
  check(`${width}: every stop is in sight and marked`, stops.filter(({ seen }) => !seen).map(({ words }) => words).join(', ') || null);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ timeout: 3_000 }).catch(() => undefined);
  check(`${width}: its dialog opens`, is(await page.getByRole('dialog').count(), 1));
  await page.keyboard.press('Escape');
  await page.waitForTimeout(150);
  check(`${width}: the focus returns to the model`, is((await focused(page)).model, 'model-150'));
}

export const MANY_MODELS: readonly Day[] = [looks(WIDE), looks(NARROW)];
