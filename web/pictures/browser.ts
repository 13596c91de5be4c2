// A page of Debian's Chromium at a fixed time, logged in or not, and when it has settled.

import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

import { SECRET } from './server.ts';
import { NOW } from './world.ts';

export const CHROMIUM = process.env['LINK_CHROMIUM'] ?? '/usr/bin/chromium';

/** Opens an empty page. `zoom` is the size of its text. */
export async function enter(within: Browser, shown: BrowserContextOptions, { signedIn = true, zoom = 1 } = {}): Promise<Page> {
  const context = await within.newContext({ ...shown, locale: 'en-GB', timezoneId: 'Europe/Berlin' });
  await context.addInitScript(([secret, size, known]) => {
    if (known) localStorage.setItem('link.csrf', secret);
    const grow = (): void => {
      if (document.documentElement) document.documentElement.style.fontSize = `${size * 100}%`;
    };
    grow();
    addEventListener('readystatechange', grow, { capture: true });
  }, [SECRET, zoom, signedIn] as const);
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
