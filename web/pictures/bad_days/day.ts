// What the bad days share: a page that is watched for what nobody caught, and the checks with what was seen instead.

import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

import { enter } from '../browser.ts';
import { serve, type Fake } from '../server.ts';
import type { World } from '../world.ts';

/** Nothing moves by itself: several pages that move take the processor from each other. */
const STILL = { reducedMotion: 'reduce' } as const;
export const WIDE = { viewport: { width: 1280, height: 800 }, ...STILL } as const;
export const NARROW = { viewport: { width: 320, height: 640 }, ...STILL } as const;

/** Takes what has to hold, and what was seen instead: nothing if it holds. */
export type Check = (what: string, seen: string | null) => void;
export type Day = (browser: Browser, check: Check) => Promise<void>;

/** How long a page is waited for, in milliseconds: longer than a busy machine takes. */
const PATIENCE = 20_000;

/** The folder of other built pages, as an older version of them has: there the checks show what they would find. */
const BUILT = process.env['LINK_BUILT_PAGES'];

/** Runs something with a backend of its own. */
export async function served<T>(world: World, run: (fake: Fake) => Promise<T>): Promise<T> {
  const fake = await serve(world, BUILT);
  try {
    return await run(fake);
  } finally {
    await fake.close();
  }
}

export interface Watched {
  page: Page;
  /** Tells what was thrown and not caught, and what the console calls an error. */
  unhandled: () => string | null;
}

/** Opens an empty page that is watched. A promise that nobody handles is an error of the page too. */
export async function watched(browser: Browser, shown: BrowserContextOptions = WIDE, options: { signedIn?: boolean } = {}): Promise<Watched> {
  const page = await enter(browser, shown, options);
  page.setDefaultTimeout(PATIENCE);
  const thrown: string[] = [];
  page.on('pageerror', (error) => thrown.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) thrown.push(message.text());
  });
  return { page, unhandled: () => (thrown.length > 0 ? thrown.slice(0, 3).join(' | ') : null) };
}

/** Compares, and tells what was seen if it is something else. */
export function is<T>(seen: T, wanted: T): string | null {
  return JSON.stringify(seen) === JSON.stringify(wanted) ? null : `${JSON.stringify(seen)} in place of ${JSON.stringify(wanted)}`;
}

/** Tells by how much the page is wider than the screen, and which rows or buttons lie over others or reach out of it. */
export async function crooked(page: Page, parts: string): Promise<string | null> {
  return page.evaluate((selector) => {
    const overhang = document.documentElement.scrollWidth - innerWidth;
    if (overhang > 0) return `${overhang} px wider than the screen`;
    let bottom = -Infinity;
    for (const part of document.querySelectorAll(selector)) {
      const box = part.getBoundingClientRect();
      if (box.top < bottom - 1) return `${part.textContent?.slice(0, 40)} lies over what is above it`;
      bottom = box.bottom;
      for (const inner of part.querySelectorAll('button, a, .badge, bdi')) {
        const { left, right, top, bottom: end } = inner.getBoundingClientRect();
        if (left < box.left - 1 || right > box.right + 1 || top < box.top - 1 || end > box.bottom + 1) return `${inner.textContent?.slice(0, 40)} reaches out of its row`;
      }
    }
    return null;
  }, parts);
}
