// The addresses of the application, which the backend lists too, and the side bar and the palette that lead to them.

import { readFileSync } from 'node:fs';

import { describe, expect, it, vi } from 'vitest';

import { paletteOpen } from '../src/app/palette';
import { LOADS } from '../src/app/routes';
import { Shell } from '../src/app/shell';
import { pageAt } from '../src/ui/addresses';
import { go } from '../src/ui/router';
import { accessible, place } from './placed';

const here = place();
const links = (): HTMLAnchorElement[] => [...here.root.querySelectorAll<HTMLAnchorElement>('.sidebar nav a')];
const current = (): (string | null)[] => links().filter((link) => link.ariaCurrent === 'page' || link.getAttribute('aria-current') === 'page').map((link) => link.getAttribute('href'));

describe('the addresses', () => {
  it('are those that the backend answers with the application', () => {
    const source = readFileSync('../backend/src/api/web.rs', 'utf8');
    const list = /const PAGES: &\[&str\] = &\[([^\]]*)\]/.exec(source)?.[1] ?? '';
    const addresses = [...list.matchAll(/"([^"]+)"/g)].map(([, address]) => address ?? '');
    expect(addresses).toHaveLength(Object.keys(LOADS).length);
    const pages = addresses.map((address) => pageAt(address.replace(/\{\w+\}/, 'x_1')));
    expect(new Set(pages)).toEqual(new Set(Object.keys(LOADS)));
  });

  it('begin with the overview, and have none of the pages before it', () => {
    expect(pageAt('/')).toBe('overview');
    for (const old of ['/overview', '/index.html', '/assets/dashboard/main.js']) expect(pageAt(old), old).toBeNull();
  });
});

describe('the side bar', () => {
  it('has each page once, the overview first, and marks the one that is shown', async () => {
    go('/');
    here.show(<Shell>x</Shell>);
    await vi.waitFor(() => expect(links().length).toBeGreaterThan(8));
    const names = links().map((link) => link.textContent?.trim());
    expect(names[0]).toBe('Overview');
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(links().map(({ href }) => href)).size).toBe(names.length);
    expect(current()).toEqual(['/']);
    expect(here.root.querySelector('.sidebar .brand')?.getAttribute('href')).toBe('/');
    await accessible();
    go('/devices/dev_a');
    await vi.waitFor(() => expect(current()).toEqual(['/devices']));
  });

  it('has a palette that lists the overview once', async () => {
    go('/devices');
    here.show(<Shell>x</Shell>);
    paletteOpen.value = true;
    await vi.waitFor(() => expect(document.querySelectorAll('[role=option]').length).toBeGreaterThan(0));
    const pages = [...document.querySelectorAll('[role=option]')].map((one) => one.textContent);
    expect(pages.filter((one) => one?.startsWith('Overview'))).toHaveLength(1);
    paletteOpen.value = false;
  });
});
