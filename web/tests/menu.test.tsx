// A menu of buttons: what opens it, what closes it, and where the focus is afterwards.

import { render } from 'preact';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { Menu } from '../src/ui/menu';
import { accessible } from './placed';

let root: HTMLElement;
const details = (): HTMLDetailsElement => root.querySelector('details') as HTMLDetailsElement;
const summary = (): HTMLElement => root.querySelector('summary') as HTMLElement;

beforeEach(async () => {
  document.body.innerHTML = '<div id="root"></div><button id="elsewhere">Elsewhere</button>';
  root = document.getElementById('root') as HTMLElement;
  const body = (close: () => void) => <button type="button" class="menu-item" onClick={close}>Redeploy</button>;
  render(<Menu label="More" named="More actions for llama" icon="more" atEnd body={body} />, root);
  details().open = true;
  await vi.waitFor(() => expect(root.querySelector('.menu-item')).not.toBeNull());
});
afterEach(() => {
  render(null, root);
});

it('is called what it acts on', async () => {
  expect(summary().getAttribute('aria-label')).toBe('More actions for llama');
  expect(summary().textContent).toBe('More');
  await accessible();
});

it('gives the focus back when one of its buttons is done, and on Escape', () => {
  root.querySelector<HTMLElement>('.menu-item')?.click();
  expect(details().open).toBe(false);
  expect(document.activeElement).toBe(summary());
  details().open = true;
  root.querySelector<HTMLElement>('.menu-item')?.focus();
  root.querySelector('.menu-item')?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
  expect(details().open).toBe(false);
  expect(document.activeElement).toBe(summary());
});

it('closes when the focus goes past it, and covers nothing then', () => {
  root.querySelector<HTMLElement>('.menu-item')?.focus();
  document.getElementById('elsewhere')?.focus();
  expect(details().open).toBe(false);
  expect(document.activeElement?.id).toBe('elsewhere');
});
