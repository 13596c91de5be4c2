// A script in the pages that should not be there, as after a fault of theirs: the policy stops whatever it tries. Without the policy
// the same tries succeed, so it is the policy that stops them.

import type { Page } from 'playwright-core';

import { settle } from '../browser.ts';
import { worldOf } from '../world.ts';
import { is, served, watched, type Day } from './day.ts';

const PAGES = ['/', '/workspace'] as const;
const TRIES = ['a handler', 'a link', 'a request', 'a script', 'a timer', 'markup'] as const;

/** Tries to run code, and to ask for what the pages never ask for. Returns which tries succeeded. */
const attack = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const done: string[] = [];
    Object.assign(globalThis, { own: (name: string) => done.push(name) });
    const element = <K extends keyof HTMLElementTagNameMap>(name: K): HTMLElementTagNameMap[K] => document.body.appendChild(document.createElement(name));
    const tries: (() => unknown)[] = [
      () => element('div').setAttribute('id', 'into'),
      () => ((document.querySelector('#into') as HTMLElement).innerHTML = '<img src="data:image/gif;base64,none" onerror="own(\'markup\')">'),
      () => (element('script').text = "own('a script')"),
      () => {
        const button = element('button');
        button.setAttribute('onclick', "own('a handler')");
        button.click();
      },
      () => {
        const link = element('a');
        link.href = "javascript:own('a link')";
        link.click();
      },
      () => setTimeout("own('a timer')" as unknown as () => void),
      () => fetch('data:,x').then(() => done.push('a request'), () => undefined),
    ];
    for (const attempt of tries) {
      try {
        attempt();
      } catch {
        // It is stopped.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
    return done.sort();
  });

const stopped: Day = (browser, check) =>
  served(worldOf('one'), async (fake) => {
    for (const policy of [true, false]) {
      fake.policy = policy;
      for (const path of PAGES) {
        const { page } = await watched(browser);
        await page.goto(fake.origin + path);
        await settle(page);
        const wanted = policy ? [] : [...TRIES];
        check(`${policy ? 'the policy stops' : 'without the policy nothing stops'} a script on ${path}`, is(await attack(page), wanted));
        await page.context().close();
      }
    }
  });

export const POLICY: readonly Day[] = [stopped];
