// The way through the pages in one state of the account and one look: each page is opened, and seen when it has settled.

import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

import { enter, settle, waiting } from './browser.ts';
import type { Screen } from './screens.ts';
import { serve, type Fake } from './server.ts';
import { worldOf, WORLDS, type WorldName } from './world.ts';

const WIDE = { width: 1280, height: 800 };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;

/** How the pages are looked at. `narrow` and `large` are the limits of WCAG: 320 px, and text of twice the size. Exact times are longer
 * than the others, so they have looks of their own. */
const LOOKS: Record<string, BrowserContextOptions & { zoom?: number; exact?: boolean }> = {
  light: { viewport: WIDE, colorScheme: 'light' },
  dark: { viewport: WIDE, colorScheme: 'dark' },
  phone: { ...PHONE, colorScheme: 'light' },
  tablet: { viewport: { width: 1024, height: 768 }, hasTouch: true, isMobile: true, colorScheme: 'light' },
  narrow: { viewport: { width: 320, height: 640 }, colorScheme: 'light' },
  large: { viewport: WIDE, colorScheme: 'light', zoom: 2 },
  forced: { viewport: WIDE, forcedColors: 'active', reducedMotion: 'reduce', exact: true },
  exact: { viewport: WIDE, colorScheme: 'light', exact: true },
  'exact-phone': { ...PHONE, colorScheme: 'light', exact: true },
};

/** A state of the account, or one in which reads fail, no read has an answer, or others have written what is hostile: under the
 * policy of the pages, or `bare`, so that only the pages themselves keep it from becoming a script. In `spiteful` reads fail with
 * hostile words. */
export type State = WorldName | 'broken' | 'loading' | 'hostile' | 'bare' | 'spiteful';
export const STATES: readonly State[] = [...WORLDS, 'broken', 'loading', 'hostile'];
const BASE: Partial<Record<State, WorldName>> = { broken: 'many', loading: 'many', hostile: 'failing', bare: 'failing', spiteful: 'many' };

/** All reads except who is logged in. */
const READS = /^\/(?!me$|events$)/;

export interface Walk {
  world: State;
  look: string;
  screens: readonly Screen[];
  /** Called with each page. Returns what is wrong with it. */
  see: (page: Page, screen: Screen) => Promise<string[]>;
}

/** Opens the pages, of a backend of their own. Returns how many, and adds what is wrong to `faults`. */
export async function walk(within: Browser, { world, look, screens, see }: Walk, faults: string[]): Promise<number> {
  const options = LOOKS[look];
  if (!options) throw new Error(`there is no look ${look}: ${Object.keys(LOOKS).join(', ')}`);
  const { zoom = 1, exact = false, ...shown } = options;
  const fake = await serve(worldOf(BASE[world] ?? (world as WorldName)));
  fake.hostile = world === 'hostile' || world === 'bare' || world === 'spiteful';
  fake.policy = world !== 'bare';
  let shared: Page | null = null;
  let where = '';
  const told = (fault: string): void => void faults.push(`${where} ${world} ${look}: ${fault}`);
  const wanted = screens.filter((screen) => isWanted(screen, world));
  try {
    for (const screen of wanted) {
      where = screen.name;
      // A page whose browser is prepared is one that nobody had before.
      const own = screen.before !== undefined || screen.open === true;
      const page: Page = own || !shared ? listened(await enter(within, shown, { signedIn: screen.open !== true, zoom, exact, fresh: !own }), told) : shared;
      if (!own) shared = page;
      fake.held = world === 'loading' ? (screen.held ?? READS) : null;
      fake.broken = world === 'broken' || world === 'spiteful' ? (screen.broken instanceof RegExp ? screen.broken : READS) : null;
      await screen.before?.(page, fake);
      await page.goto((screen.from ?? fake.origin) + screen.path(fake.world));
      await ready(page, fake, screen).catch((error: unknown) => told(String(error).split('\n')[0] ?? ''));
      for (const fault of await see(page, screen)) told(fault);
      // What waits would hold the connections of the next page.
      fake.held = null;
      for (const answer of fake.waiting.splice(0)) answer();
      if (own) await page.context().close();
    }
  } finally {
    await shared?.context().close();
    await fake.close();
  }
  return wanted.length;
}

/** Has a page tell what is wrong by itself: messages in its console, and errors. */
function listened(page: Page, told: (fault: string) => void): Page {
  page.on('console', (message) => {
    const expected = /status of (400|401|403|404|410|413|429|500|502|503)|net::ERR_FAILED|has been blocked by CORS/.test(message.text());
    if (message.type() === 'error' && !expected) told(message.text());
  });
  page.on('pageerror', (error) => told(error.message));
  return page;
}

/** Waits until the page is as it is to be seen. */
async function ready(page: Page, fake: Fake, screen: Screen): Promise<void> {
  if (fake.held && screen.there !== undefined) {
    const there = page.locator(screen.there);
    // Reads that wait may have all connections that a browser opens before the one that is answered has its own.
    await there.waitFor({ timeout: 5_000 }).catch(() => page.reload().then(() => there.waitFor({ timeout: 10_000 })));
  }
  if (fake.held) return waiting(page, fake);
  await settle(page);
  if (!screen.act) return;
  await screen.act(page, fake);
  await settle(page);
}

function isWanted({ worlds: differing = WORLDS, broken, hostile, loading, act, open }: Screen, world: State): boolean {
  const looked = !act && !open;
  if (world === 'broken' || world === 'spiteful') return broken !== undefined;
  if (world === 'loading') return loading ?? (looked && differing.includes('many'));
  if (world === 'hostile' || world === 'bare') return hostile === true || (looked && differing.includes('failing'));
  return differing.includes(world);
}
