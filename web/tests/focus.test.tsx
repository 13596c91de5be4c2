// Where the focus goes, and what a screen reader is told.

import { render } from 'preact';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { Shell } from '../src/app/shell';
import { devices, devicesLoading, live, stop } from '../src/data/store';
import { DevicesPage } from '../src/pages/devices/page';
import { narrow } from '../src/ui/narrow';
import { go } from '../src/ui/router';
import { device } from './fixtures';

let root: HTMLElement;

beforeEach(() => {
  document.body.innerHTML = '<div id="root"></div>';
  root = document.getElementById('root') as HTMLElement;
  stop();
  go('/devices');
  render(<Shell><p>Page</p></Shell>, root);
});
afterEach(() => {
  render(null, root);
});

it('is in the content after a change of the page, not of its view', async () => {
  const search = root.querySelector<HTMLElement>('.search-button');
  search?.focus();
  go('/devices?q=x');
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(document.activeElement).toBe(search);
  go('/devices/dev_a');
  await vi.waitFor(() => expect(document.activeElement?.id).toBe('content'));
});

it('is in the drawer while it is open, and returns to its button', async () => {
  const menu = root.querySelector<HTMLElement>('.topbar button');
  menu?.click();
  await vi.waitFor(() => expect(document.activeElement?.closest('.sidebar')).not.toBeNull());
  expect(menu?.getAttribute('aria-label')).toBe('Close the menu');
  dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
  await vi.waitFor(() => expect(root.querySelector('.sidebar.open')).toBeNull());
  expect(document.activeElement).toBe(menu);
});

it('does not go under the drawer, which covers the page on a narrow screen', async () => {
  const main = (): HTMLElement | null => root.querySelector('main');
  narrow.value = true;
  try {
    root.querySelector<HTMLElement>('.topbar button')?.click();
    await vi.waitFor(() => expect(main()?.hasAttribute('inert')).toBe(true));
    const free: (boolean | undefined)[] = [];
    vi.spyOn(main() as HTMLElement, 'focus').mockImplementation(() => void free.push(!main()?.hasAttribute('inert')));
    go('/devices/dev_a');
    await vi.waitFor(() => expect(free).toEqual([true]));
  } finally {
    narrow.value = false;
  }
});

it('hears one sentence about a cut, whose age is for the eye', async () => {
  live.value = { state: 'lost', since: Date.now() - 40_000 };
  const status = root.querySelector('main [role=status]');
  await vi.waitFor(() => expect(status?.textContent).toContain('seconds old'), { timeout: 3_000 });
  expect(status?.querySelector('[aria-hidden=true]:not(svg)')?.textContent).toMatch(/^What you see is \d+ seconds old\. Reconnecting…$/);
  expect(status?.querySelector('.visually-hidden')?.textContent).toBe('What you see may be out of date. Reconnecting…');
});

it('hears no count while the list is loaded', async () => {
  devices.loaded([device('a')]);
  devicesLoading.value = { state: 'loading', error: null };
  render(<DevicesPage />, root);
  await vi.waitFor(() => expect(root.querySelector('.page-head .number')?.textContent).toContain('1 device'));
  expect(root.querySelector('.page-head [role=status]')).toBeNull();
  devicesLoading.value = { state: 'ready', error: null };
  await vi.waitFor(() => expect(root.querySelector('.page-head [role=status]')?.textContent).toBe('1 device'));
});
