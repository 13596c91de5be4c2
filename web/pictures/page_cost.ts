// What a page takes: the processor time of its main thread, by kind, and its longest task.

import type { Browser, CDPSession, Page } from 'playwright-core';

import { SECRET } from './server.ts';

export interface Opened {
  page: Page;
  protocol: CDPSession;
}

/** Opens an empty page that is logged in at a made-up backend, on a processor that is slowed. */
export async function opened(browser: Browser, origin: string, slowed: number): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addInitScript(([secret, at]) => {
    if (location.origin === at) localStorage.setItem('link.csrf', secret);
  }, [SECRET, origin] as const);
  const page = await context.newPage();
  const protocol = await context.newCDPSession(page);
  // Thread time: what other programs take of the machine is not counted.
  await protocol.send('Performance.enable', { timeDomain: 'threadTicks' });
  await protocol.send('Emulation.setCPUThrottlingRate', { rate: slowed });
  return { page, protocol };
}

/** Seconds of the main thread since the page began, and when. */
export interface Taken {
  at: number;
  task: number;
  script: number;
  layout: number;
  style: number;
}

export async function taken(protocol: CDPSession): Promise<Taken> {
  const { metrics } = await protocol.send('Performance.getMetrics');
  const named = (name: string): number => metrics.find((one) => one.name === name)?.value ?? 0;
  return {
    at: performance.now() / 1_000,
    task: named('TaskDuration'), script: named('ScriptDuration'), layout: named('LayoutDuration'), style: named('RecalcStyleDuration'),
  };
}

/** Returns the shares of the time between two moments. */
export function shareOf(from: Taken, to: Taken): Taken {
  const passed = to.at - from.at;
  const share = (name: 'task' | 'script' | 'layout' | 'style'): number => (to[name] - from[name]) / passed;
  return { at: passed, task: share('task'), script: share('script'), layout: share('layout'), style: share('style') };
}

/** Begins to watch tasks. What it returns tells the longest one, in milliseconds. */
export async function watchTasks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const seen = { longest: 0 };
    Object.assign(globalThis, { tasks: seen });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.longest = Math.max(seen.longest, duration);
    }).observe({ type: 'longtask' });
  });
  return () => page.evaluate(() => (globalThis as unknown as { tasks: { longest: number } }).tasks.longest);
}
