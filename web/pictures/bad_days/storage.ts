// A browser that stores nothing: its storage is full, or forbidden by its settings. Both are Chromium's own refusals, not played
// ones. The workspace still chats, says that nothing is kept where a person would look for it, and no text is lost in the tab.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { chromium, type Browser, type Dialog, type Page } from 'playwright-core';

import { CHROMIUM, settle } from '../browser.ts';
import { MODEL } from '../causes.ts';
import { restarted } from '../screens.ts';
import { ME, SECRET, type Fake } from '../server.ts';
import { worldOf } from '../world.ts';
import { is, NARROW, served, watched, WIDE, type Day } from './day.ts';

const ANSWER = 'data: {"choices":[{"delta":{"content":"A whole answer."}}]}\n\ndata: [DONE]\n\n';
const DRAFT = 'A message that is not sent yet.';
const NOT_KEPT = 'not kept';

/** Asks the model, which answers, and returns what stands there. */
async function chats(page: Page, question: string): Promise<string | null> {
  await page.locator('#message').fill(question);
  await page.locator('#message').press('Enter');
  const answer = page.locator('.answered').last();
  await answer.locator('.turn-actions').waitFor({ timeout: 10_000 }).catch(() => undefined);
  const words = (await answer.textContent().catch(() => null)) ?? 'no answer';
  return words.includes('A whole answer.') ? null : words.slice(0, 200);
}

async function answering(page: Page): Promise<void> {
  const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
  await page.route(MODEL, (route) => route.fulfill({ contentType: 'text/event-stream', body: ANSWER, headers }));
}

/** Whether the list of conversations itself says that nothing is kept, and does not say that it is. */
async function listed(page: Page): Promise<string | null> {
  const words = (await page.locator('.history').textContent()) ?? '';
  return words.includes(NOT_KEPT) && !words.includes('Kept in this browser') ? null : words;
}

/** To leave for another page, which is another document, asks first: whoever stays has the draft. */
async function stays(page: Page): Promise<string | null> {
  const asked: string[] = [];
  const heard = (dialog: Dialog): void => {
    asked.push(dialog.type());
    void dialog.dismiss();
  };
  page.on('dialog', heard);
  await page.locator('.sidebar').getByRole('link', { name: 'Devices' }).click({ noWaitAfter: true });
  await page.waitForTimeout(300);
  page.off('dialog', heard);
  return is([asked, new URL(page.url()).pathname, await page.locator('#message').inputValue().catch(() => null)], [['beforeunload'], '/workspace', DRAFT]);
}

/** A reload that would lose the draft asks first. */
async function warns(page: Page, fake: Fake): Promise<string | null> {
  await restarted(page, fake);
  fake.upgraded = false;
  let reloaded = false;
  page.once('load', () => (reloaded = true));
  await page.getByRole('button', { name: 'Reload the page' }).click();
  await page.waitForTimeout(300);
  return reloaded ? 'the page was reloaded at once' : is(await page.getByRole('button', { name: 'Reload anyway' }).count(), 1);
}

/** Leaves no byte for what the pages store beside the database. */
async function fill(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const storage of [localStorage, sessionStorage]) {
      for (let size = 1 << 20; size >= 1; size >>= 1) {
        try {
          for (let at = 0; ; at += 1) storage.setItem(`filler.${size}.${at}`, 'x'.repeat(size));
        } catch {
          // The next ones are smaller.
        }
      }
    }
  });
}

const full: Day = (browser, check) =>
  served(worldOf('many'), async (fake) => {
    const { page, unhandled } = await watched(browser);
    await answering(page);
    const protocol = await page.context().newCDPSession(page);
    await protocol.send('Storage.overrideQuotaForOrigin', { origin: fake.origin, quotaSize: 1 });
    await page.goto(`${fake.origin}/workspace`);
    await settle(page);
    await fill(page);
    await chats(page, 'The first question.');
    await page.locator('#fresh').click();
    check('storage full: the workspace chats', await chats(page, 'Does it answer?'));
    await page.getByText('storage of this browser is full').waitFor({ timeout: 3_000 }).catch(() => undefined);
    check('storage full: the page says so', is(await page.getByText('storage of this browser is full').count(), 1));
    check('storage full: the list of conversations says what is not kept', await listed(page));
    await page.locator('#message').pressSequentially(DRAFT);
    check('storage full: to leave asks first, and keeps the draft', await stays(page));
    check('storage full: a reload that would lose the draft asks first', await warns(page, fake));
    await protocol.send('Storage.overrideQuotaForOrigin', { origin: fake.origin });
    await page.getByRole('button', { name: /^Delete The first question/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.waitForTimeout(300);
    check('storage full: what was not kept is kept once there is room', is(await stored(page), ['Does it answer?']));
    check('storage full: nothing is thrown', unhandled());
    await page.context().close();
  });

/** The titles of the conversations in the database. */
const stored = (page: Page): Promise<string[]> =>
  page.evaluate((user) => new Promise<string[]>((resolve, reject) => {
    const opening = indexedDB.open(`link-workspace.${user}`);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const all = opening.result.transaction('conversations').objectStore('conversations').getAll() as IDBRequest<{ title: string }[]>;
      all.onsuccess = () => resolve(all.result.map(({ title }) => title));
    };
  }), ME.user_id);

/** Logs in by the form: a browser that stores nothing remembers no login. */
async function logIn(page: Page, fake: Fake): Promise<void> {
  await page.route('**/api/v1/session', (route) =>
    route.request().method() === 'POST' ? route.fulfill({ status: 201, json: { session_id: 'ses_1', csrf: SECRET, me: ME } }) : route.continue());
  await page.goto(`${fake.origin}/workspace`);
  await page.locator('#email').fill(ME.email);
  await page.locator('#password').fill('correct horse battery');
  await page.keyboard.press('Enter');
  await page.locator('#message').waitFor({ timeout: 10_000 });
}

const forbidden: Day = (browser, check) =>
  served(worldOf('many'), async (fake) => {
    const { page, unhandled } = await watched(browser, WIDE, { signedIn: false });
    await answering(page);
    await logIn(page, fake);
    check('storage forbidden: the browser does refuse', is(await page.evaluate(() => {
      try {
        return String(localStorage.length);
      } catch (error) {
        return (error as DOMException).name;
      }
    }), 'SecurityError'));
    check('storage forbidden: the workspace chats', await chats(page, 'Does it answer?'));
    check('storage forbidden: the page says so', is(await page.getByText('does not let the page store').count(), 1));
    check('storage forbidden: the list of conversations says that it is not kept', await listed(page));
    await page.locator('#message').pressSequentially(DRAFT);
    check('storage forbidden: to leave asks first, and keeps the draft', await stays(page));
    check('storage forbidden: the pages follow the backend', is(await page.locator('.pulse').textContent(), 'Live'));
    check('storage forbidden: a reload that would lose the draft asks first', fake.streams.size > 0 ? await warns(page, fake) : 'the pages follow nothing');
    check('storage forbidden: nothing is thrown', unhandled());
    await page.context().close();
    const narrow = await watched(browser, NARROW, { signedIn: false });
    await logIn(narrow.page, fake);
    await narrow.page.getByRole('button', { name: 'Conversations' }).click();
    await narrow.page.locator('.history').waitFor();
    check('storage forbidden, 320 px: the list of conversations says that it is not kept', await listed(narrow.page));
    await narrow.page.context().close();
  });

/** Runs with a browser whose settings forbid all pages to store. */
async function withForbidden(run: (browser: Browser) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'link-forbidden-'));
  try {
    await mkdir(join(folder, 'Default'));
    await writeFile(join(folder, 'Default/Preferences'), JSON.stringify({ profile: { default_content_setting_values: { cookies: 2 } } }));
    const first = await chromium.launchPersistentContext(folder, { executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
    const browser = first.browser();
    try {
      if (!browser) throw new Error('the browser of a profile cannot be had');
      await run(browser);
    } finally {
      await first.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export const STORAGE: readonly Day[] = [full, (_, check) => withForbidden((strict) => forbidden(strict, check))];
