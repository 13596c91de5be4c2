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

/** Begins to watch tasks. What it returns ends that and tells the longest one of the page, in milliseconds of processor time:
 * what other programs take of the machine is not counted. */
export async function watchTasks(browser: Browser, page: Page): Promise<() => Promise<number>> {
  await browser.startTracing(page, { categories: ['toplevel'] });
  return async () => longestOf(JSON.parse((await browser.stopTracing()).toString()) as Trace);
}

interface Trace {
  traceEvents: { ph: string; name: string; pid: number; tid: number; tdur?: number; args?: { name?: string } }[];
}

/** Returns the longest task of the busiest main thread of a page, in milliseconds. */
function longestOf({ traceEvents }: Trace): number {
  const pages = new Set(traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain').map(({ pid, tid }) => `${pid} ${tid}`));
  const threads = new Map<string, { sum: number; longest: number }>();
  for (const { ph, name, pid, tid, tdur = 0 } of traceEvents) {
    const thread = `${pid} ${tid}`;
    if (ph !== 'X' || !name.endsWith('RunTask') || !pages.has(thread)) continue;
    const { sum, longest } = threads.get(thread) ?? { sum: 0, longest: 0 };
    threads.set(thread, { sum: sum + tdur, longest: Math.max(longest, tdur) });
  }
  const [busiest] = [...threads.values()].sort((a, b) => b.sum - a.sum);
  return (busiest?.longest ?? 0) / 1_000;
}
