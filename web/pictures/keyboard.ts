// What is done with the keyboard alone, in Debian's Chromium: the first account, a redeployment, and every dialog. A dialog begins at a field or
// at a button that changes nothing, keeps the focus, closes on Escape, and gives the focus back to what opened it. axe finds no
// violation in it, in light and dark colours.
//   node pictures/keyboard.ts

import { chromium, type Browser, type Page } from 'playwright-core';

import { CHROMIUM, enter, settle } from './browser.ts';
import { DIALOGS, type Opened } from './dialogs.ts';
import { violations } from './judge.ts';
import { restarted } from './screens.ts';
import { ME, serve, type Fake } from './server.ts';
import { worldOf } from './world.ts';

/** How many pages are open at a time: a page waits more than it computes, and each has a focus of its own. */
const LANES = 2;

const faults: string[] = [];
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
try {
  await served(async (fake) => {
    await firstAccount(browser, fake);
    await upgraded(browser, fake);
    for (const width of [1280, 390]) await deployedAgain(browser, fake, width);
  });
  const left = [...DIALOGS];
  const lane = (): Promise<void> =>
    served(async (fake) => {
      const page = await enter(browser, { colorScheme: 'light' }, { fresh: true });
      for (let one = left.shift(); one; one = left.shift()) await reported(page, fake, one);
    });
  await Promise.all(Array.from({ length: LANES }, lane));
} finally {
  await browser.close();
}
process.stdout.write(`the first account, a reload after an upgrade, a redeployment and ${DIALOGS.length} dialogs by keyboard\n`);
for (const fault of faults) process.stdout.write(`fault: ${fault}\n`);
process.exitCode = faults.length > 0 ? 1 : 0;

/** Runs something with a backend of its own. */
async function served(run: (fake: Fake) => Promise<void>): Promise<void> {
  const fake = await serve(worldOf('many'));
  try {
    await run(fake);
  } finally {
    await fake.close();
  }
}

/** Tries a dialog, and notes what could not be tried as a fault. */
async function reported(page: Page, fake: Fake, one: Opened): Promise<void> {
  await tried(page, fake, one).catch((error: unknown) => faults.push(`${one.name}: ${String(error).split('\n').slice(0, 3).join(' ')}`));
}

/** Creates the first account without a pointer: each stop can be seen, and Enter sends what was typed. */
async function firstAccount(within: Browser, served: Fake): Promise<void> {
  served.world = worldOf('empty');
  const page = await enter(within, { viewport: { width: 1280, height: 800 } }, { signedIn: false });
  let sent: unknown = null;
  await page.route('**/api/v1/session', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    sent = route.request().postDataJSON();
    return route.fulfill({ status: 201, json: { session_id: 'ses_1', csrf: 'a-secret-of-this-origin', me: ME } });
  });
  await page.goto(`${served.origin}/setup`);
  await settle(page);
  const typed: Record<string, string> = { 'setup-token': 'lst_0123456789', email: 'ada@example.com', password: 'correct horse battery' };
  const stops: string[] = [];
  // The first field may have the focus already.
  for (let at = 0; at < 12 && !stops.includes('password'); at += 1) {
    const stop = await focused(page);
    if (stop.name !== '') stops.push(stop.name);
    if (stop.name !== '' && !stop.seen) faults.push(`setup: nothing shows that ${stop.name} has the focus`);
    const words = typed[stop.name];
    if (words !== undefined) await page.keyboard.type(words);
    if (stop.name !== 'password') await page.keyboard.press('Tab');
  }
  const order = stops.filter((name) => name in typed).join(', ');
  if (order !== 'setup-token, email, password') faults.push(`setup: the fields are reached as ${order}`);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${served.origin}/`, { timeout: 5_000 }).catch(() => faults.push('setup: Enter does not create the account'));
  const wanted = { setup_token: typed['setup-token'], email: typed['email'], password: typed['password'] };
  if (JSON.stringify(sent) !== JSON.stringify({ with: 'setup', ...wanted })) faults.push(`setup: it sent ${JSON.stringify(sent)}`);
  await page.context().close();
}

/** A reload after an upgrade keeps the draft of the workspace. */
async function upgraded(within: Browser, served: Fake): Promise<void> {
  served.world = worldOf('many');
  const page = await enter(within, { viewport: { width: 1280, height: 800 } });
  await page.goto(`${served.origin}/workspace`);
  await settle(page);
  const draft = 'A message that is not sent yet.';
  await page.locator('#message').fill(draft);
  await restarted(page, served).catch(() => faults.push('upgrade: no reload is offered'));
  served.upgraded = false;
  await page.getByRole('button', { name: 'Reload the page' }).focus();
  await Promise.all([page.waitForEvent('load', { timeout: 5_000 }), page.keyboard.press('Enter')]);
  await page.locator('#message').waitFor();
  const kept = await page.locator('#message').inputValue();
  if (kept !== draft) faults.push(`upgrade: the draft is ${JSON.stringify(kept)} after the reload`);
  await page.context().close();
}

/** A redeployment puts its row far down a long list: the focus and the list follow it there. */
async function deployedAgain(within: Browser, served: Fake, width: number): Promise<void> {
  served.world = worldOf('failing');
  const page = await enter(within, { viewport: { width, height: 800 } });
  await page.route('**/api/v1/deployments', (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    const { model_id, device_id } = route.request().postDataJSON() as { model_id: string; device_id: string };
    const before = served.world.deployments.find((one) => one.model_id === model_id && one.device_id === device_id);
    return route.fulfill({ status: 202, json: { ...before, deployment_id: 'dpl_successor', state: 'queued', serving: null, stale: false } });
  });
  await page.goto(`${served.origin}/deployments`);
  await settle(page);
  await page.locator('[data-action=redeploy]').first().focus();
  await page.keyboard.press('Enter');
  const group = page.locator('[data-id=dpl_successor] .action-group:focus');
  await group.waitFor({ timeout: 3_000 }).catch(() => faults.push(`redeploy at ${width} px: the focus does not follow the row`));
  // Rows are measured while the list scrolls.
  await page.waitForTimeout(500);
  const [row, head, list] = await Promise.all(['[data-id=dpl_successor]', '.list-head', '.list-scroll'].map((one) => page.locator(one).boundingBox({ timeout: 1_000 }).catch(() => null)));
  const isSeen = row && head && list && row.y >= head.y + head.height && row.y + row.height <= list.y + list.height;
  if (!isSeen) faults.push(`redeploy at ${width} px: the row that has the focus is out of sight`);
  await page.context().close();
}

interface Stop {
  name: string;
  /** Whether something shows that it has the focus. */
  seen: boolean;
  /** Whether it is in a dialog. A dialog that scrolls can have the focus itself, so that keys scroll it. */
  inDialog: boolean;
  isDialog: boolean;
  harmful: boolean;
  cross: boolean;
}

function focused(page: Page): Promise<Stop> {
  return page.evaluate(() => {
    const one = document.activeElement ?? document.body;
    const { outlineStyle, boxShadow } = getComputedStyle(one);
    return {
      name: one === document.body ? '' : one.getAttribute('name') ?? one.getAttribute('aria-label') ?? one.textContent?.trim().slice(0, 40) ?? one.tagName,
      seen: outlineStyle !== 'none' || boxShadow !== 'none',
      inDialog: one.closest('dialog') !== null,
      isDialog: one.tagName === 'DIALOG',
      harmful: one.matches('.danger, [type=submit]'),
      cross: one.closest('.dialog-head') !== null,
    };
  });
}

async function tried(page: Page, served: Fake, { name, path, world = 'many', before, button, menu, narrow = false }: Opened): Promise<void> {
  served.world = worldOf(world);
  await page.setViewportSize(narrow ? { width: 390, height: 844 } : { width: 1280, height: 800 });
  await page.goto(served.origin + (typeof path === 'string' ? path : path(served.world)));
  await settle(page);
  await before?.(page);
  const within = menu === undefined ? null : page.locator('.menu', { hasText: menu }).last();
  if (within) {
    await within.locator('summary').focus();
    await page.keyboard.press('Enter');
  }
  const opener = (within ?? page).getByRole('button', { name: button }).first();
  await opener.waitFor({ timeout: 3_000 });
  const node = await (within?.locator('summary') ?? opener).elementHandle();
  await opener.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor({ timeout: 3_000 });
  await page.waitForTimeout(150);
  const first = await focused(page);
  if (!first.inDialog || first.isDialog) faults.push(`${name}: nothing in the dialog has the focus`);
  if (first.cross) faults.push(`${name}: the dialog begins at its cross`);
  if (first.harmful) faults.push(`${name}: the dialog begins at ${first.name}`);
  if (!first.seen) faults.push(`${name}: nothing shows that ${first.name} has the focus`);
  for (let at = 0; at < 25; at += 1) {
    await page.keyboard.press('Tab');
    const stop = await focused(page);
    // The browser's own bar is part of the round, and is no element of the page.
    if (stop.name !== '' && !stop.inDialog) faults.push(`${name}: the focus leaves the dialog for ${stop.name}`);
  }
  for (const fault of await violations(page, { within: 'dialog', dark: true })) faults.push(`${name}: ${fault}`);
  await dialog.locator('button').first().focus();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached', timeout: 3_000 });
  await page.waitForTimeout(100);
  const back = await page.evaluate((wanted) => document.activeElement === wanted, node);
  if (!back) faults.push(`${name}: the focus is at ${(await focused(page)).name || 'nothing'} afterwards`);
}
