// A page of Debian's Chromium at a fixed time, logged in or not, and when it has settled.

import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

import { SECRET, type Fake } from './server.ts';
import { NOW } from './world.ts';

export const CHROMIUM = process.env['LINK_CHROMIUM'] ?? '/usr/bin/chromium';

interface Entered {
  signedIn?: boolean;
  /** The size of the text. */
  zoom?: number;
  /** Whether every address that is opened finds an empty storage, so that one page serves for many: a new one costs more than
   * what it shows. */
  fresh?: boolean;
  /** Whether this browser shows exact times. */
  exact?: boolean;
}

/** Opens an empty page. */
export async function enter(within: Browser, shown: BrowserContextOptions, { signedIn = true, zoom = 1, fresh = false, exact = false }: Entered = {}): Promise<Page> {
  const context = await within.newContext({ ...shown, locale: 'en-GB', timezoneId: 'Europe/Berlin' });
  await context.addInitScript(([secret, size, known, empty, dated]) => {
    if (empty) for (const storage of [localStorage, sessionStorage]) storage.clear();
    if (known) localStorage.setItem('link.csrf', secret);
    if (dated) localStorage.setItem('link.exact-times', 'yes');
    const grow = (): void => {
      if (document.documentElement) document.documentElement.style.fontSize = `${size * 100}%`;
    };
    grow();
    addEventListener('readystatechange', grow, { capture: true });
  }, [SECRET, zoom, signedIn, fresh, exact] as const);
  const page = await context.newPage();
  await page.clock.setFixedTime(NOW);
  return page;
}

/** Waits until the page has what it asked for, and nothing is a skeleton any more. */
export async function settle(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('#app')?.childElementCount !== 0, null, { timeout: 10_000 });
  await page.waitForFunction(() => !document.querySelector('.skeleton'), null, { timeout: 5_000 }).catch(() => undefined);
  await page.waitForTimeout(150);
}

/** Waits until the page has asked for what it shows, and changes no more while it waits for the answers. */
export async function waiting(page: Page, fake: Fake): Promise<void> {
  for (let asked = -1; asked !== fake.waiting.length || asked === 0; ) {
    asked = fake.waiting.length;
    await page.waitForTimeout(300);
  }
  await page.locator('.skeleton').first().waitFor({ timeout: 10_000 });
}
