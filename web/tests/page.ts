// What the tests of pages share: the page of a test, its buttons and fields, and whether it is accessible.

import axe from 'axe-core';
import { render, type ComponentChild } from 'preact';
import { expect, vi } from 'vitest';

import { me, stop } from '../src/data/store';
import type { Role } from '../src/data/types';
import { spaced } from './spaced';

/** How long a test waits for the page: longer than a busy machine takes. */
const PATIENCE = { timeout: 3_000 };

/** Empties the document, and logs somebody in with a role. */
export function blank(role: Role): HTMLElement {
  sessionStorage.setItem('link.refresh-token', 'r');
  document.body.innerHTML = '<div id="root"></div>';
  stop();
  me.value = { user_id: 'usr_me', account_id: 'acc_1', email: 'me@example.com', role };
  return document.getElementById('root') as HTMLElement;
}

export function show(root: HTMLElement, page: ComponentChild): void {
  render(page, root);
}

export async function says(words: string): Promise<void> {
  await vi.waitFor(() => expect(spaced(document.body.textContent)).toContain(words), PATIENCE);
}

export async function accessible(): Promise<void> {
  const rules = { 'color-contrast': { enabled: false }, region: { enabled: false } };
  const { violations } = await axe.run(document.body, { rules });
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join('\n')}`)).toEqual([]);
}

/** Clicks the button with these words as soon as it is there and enabled, in the dialog if one is open. */
export async function press(words: string): Promise<HTMLButtonElement> {
  return vi.waitFor(() => {
    const place = document.querySelector('dialog') ?? document;
    const found = [...place.querySelectorAll('button')].find((button) => nameOf(button) === words);
    if (!found || found.disabled) throw new Error(`there is no button ${words} that can be pressed`);
    found.click();
    return found;
  }, PATIENCE);
}

/** Returns the names of the buttons that are shown. */
export function buttons(): string[] {
  return [...document.querySelectorAll('button')].filter((button) => !button.closest('.notices')).map(nameOf);
}

/** Types into the field with a label. */
export async function type(label: string, words: string): Promise<void> {
  const field = await vi.waitFor(() => {
    const found = fieldOf(label);
    if (!found) throw new Error(`there is no field ${label}`);
    return found;
  }, PATIENCE);
  field.value = words;
  field.dispatchEvent(new Event('input', { bubbles: true }));
  field.dispatchEvent(new Event('change', { bubbles: true }));
}

/** Chooses a radio button or ticks a box by its label. */
export async function tick(label: string): Promise<void> {
  await vi.waitFor(() => {
    const found = fieldOf(label);
    if (!found) throw new Error(`there is no choice ${label}`);
    found.click();
  }, PATIENCE);
}

function fieldOf(label: string): HTMLInputElement | undefined {
  const place = document.querySelector('dialog') ?? document;
  const fields = [...place.querySelectorAll<HTMLInputElement>('input, select, textarea')];
  return fields.find((field) => [...(field.labels ?? [])].some((one) => one.textContent?.trim().startsWith(label)) || field.ariaLabel === label);
}

function nameOf(button: HTMLButtonElement): string {
  return button.getAttribute('aria-label') ?? button.textContent?.trim() ?? '';
}
