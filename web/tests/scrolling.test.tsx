// What is drawn while a list is scrolled: the rows that come, and none that stays.

import { options, type VNode } from 'preact';
import { afterEach, expect, it, vi } from 'vitest';

import { devices, devicesLoading } from '../src/data/store';
import { DevicesPage } from '../src/pages/devices/page';
import { go } from '../src/ui/router';
import { device } from './fixtures';
import { place } from './placed';

const here = place();
// Preact calls this before it calls a component's function.
const hooks = options as { __r?: (node: VNode<object>) => void };
const { __r: before } = hooks;
afterEach(() => {
  if (before) hooks.__r = before;
  else delete hooks.__r;
});

it('draws the rows that come into sight, and no row again that stays there', async () => {
  go('/devices');
  devices.loaded(Array.from({ length: 500 }, (_, index) => device(`d${index}`)));
  devicesLoading.value = { state: 'ready', error: null };
  here.show(<DevicesPage />);
  const rows = (): Element[] => [...here.root.querySelectorAll('.device-row[data-state]')];
  await vi.waitFor(() => expect(rows().length).toBeGreaterThan(10));
  const first = new Set(rows());
  let rowsDrawn = 0;
  hooks.__r = (node) => {
    if ('index' in node.props) rowsDrawn += 1;
    before?.(node);
  };
  const list = here.root.querySelector('.table-scroll') as HTMLElement;
  list.scrollTop = 10 * 42;
  list.dispatchEvent(new Event('scroll'));
  await vi.waitFor(() => expect(rows().some((row) => !first.has(row))).toBe(true));
  const come = rows().filter((row) => !first.has(row)).length;
  expect(rows().length).toBeGreaterThan(come);
  expect(rowsDrawn).toBe(come);
});
