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
  Reflect.deleteProperty(Element.prototype, 'scrollIntoView');
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

it('is scrolled into sight when it opens, as on the last row of a page', async () => {
  const shown = vi.fn();
  Element.prototype.scrollIntoView = shown;
  details().open = false;
  await vi.waitFor(() => expect(root.querySelector('.menu-body')).toBeNull());
  details().open = true;
  await vi.waitFor(() => expect(shown).toHaveBeenCalledWith({ block: 'nearest' }));
  expect(shown.mock.contexts).toEqual([root.querySelector('.menu-body')]);
});

it('begins where its button begins, if it would begin left of the screen otherwise', async () => {
  expect(details().className).toBe('menu at-end');
  details().open = false;
  await vi.waitFor(() => expect(root.querySelector('.menu-body')).toBeNull());
  const measured = vi.spyOn(Element.prototype, 'getBoundingClientRect').mockReturnValue({ left: -59 } as DOMRect);
  details().open = true;
  await vi.waitFor(() => expect(details().className).toBe('menu at-end turned'));
  measured.mockRestore();
  details().open = false;
  await vi.waitFor(() => expect(details().className).toBe('menu at-end'));
});
