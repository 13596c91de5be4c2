// What tests of pages share: a place to draw, waiting for words, pressing what has a name, and axe.

import axe from 'axe-core';
import { render, type ComponentChild } from 'preact';
import { afterEach, beforeEach, expect, vi } from 'vitest';

import { followers } from '../src/data/followers';
import { me, stop } from '../src/data/store';
import { backend, type Backend } from './backend';
import { spaced } from './spaced';

/** How long a test waits for the page: longer than a busy machine takes. */
const PATIENCE = { timeout: 3_000 };

// Nothing has a height in jsdom, so that no row of a long list would be in sight.
for (const side of ['clientWidth', 'clientHeight']) {
  Object.defineProperty(HTMLElement.prototype, side, { configurable: true, get: () => 900 });
}

export interface Place {
  root: HTMLElement;
  served: Backend;
  show: (page: ComponentChild) => void;
}

export const OWNER = { user_id: 'usr', account_id: 'acc', email: 'owner@example.com', role: 'owner' } as const;

/** Makes a new place and a new backend for each test; the one who is logged in owns the account. */
export function place(): Place {
  const made = {} as Place;
  // Some lists follow for as long as the pages are loaded.
  const resting = followers.size;
  beforeEach(() => {
    sessionStorage.setItem('link.refresh-token', 'r');
    made.served = backend({ '/me': [200, OWNER] });
    document.body.innerHTML = '<div id="root"></div>';
    made.root = document.getElementById('root') as HTMLElement;
    made.show = (page) => render(page, made.root);
    stop();
    me.value = OWNER;
  });
  afterEach(async () => {
    render(null, made.root);
    // Effects end a frame after their page: until then the next test would find the lists of this one.
    await vi.waitFor(() => expect(followers.size).toBe(resting));
  });
  return made;
}

export async function settled(words: string): Promise<void> {
  await vi.waitFor(() => expect(spaced(document.body.textContent)).toContain(words), PATIENCE);
}

/** Expects no violation. jsdom draws nothing, so colours are checked elsewhere. */
export async function accessible(): Promise<void> {
  const rules = { 'color-contrast': { enabled: false }, region: { enabled: false } };
  const { violations } = await axe.run(document.body, { rules });
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join('\n')}`)).toEqual([]);
}

/** Returns the button or link with these words, or with this name, once it is there. */
export async function control(words: string): Promise<HTMLElement> {
  return vi.waitFor(() => {
    const all = [...document.querySelectorAll<HTMLElement>('button, summary, a')].reverse();
    const found = all.find((one) => one.textContent?.trim() === words || one.getAttribute('aria-label') === words);
    if (!found) throw new Error(`there is no control ${words}`);
    return found;
  }, PATIENCE);
}

export async function press(words: string): Promise<void> {
  (await control(words)).click();
}

/** Opens each menu of a row that is closed, and presses what has these words in one of them. */
export async function pressInMenu(words: string): Promise<void> {
  await vi.waitFor(() => expect(document.querySelector('.menu.at-end')).not.toBeNull(), PATIENCE);
  for (const menu of document.querySelectorAll('.menu.at-end:not([open])')) menu.setAttribute('open', '');
  await press(words);
}

export function controls(): string[] {
  return [...document.querySelectorAll('button')].map((one) => one.textContent?.trim() ?? '');
}

export async function type(selector: string, words: string): Promise<void> {
  const field = await vi.waitFor(() => {
    const found = document.querySelector<HTMLInputElement>(selector);
    if (!found) throw new Error(`there is no field ${selector}`);
    return found;
  }, PATIENCE);
  field.value = words;
  field.dispatchEvent(new Event('input', { bubbles: true }));
  field.dispatchEvent(new Event('change', { bubbles: true }));
}
