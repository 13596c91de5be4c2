// Exact times: one switch for every page of this browser, kept in it, and followed by its other tabs.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { DisplayCard } from '../src/pages/settings/display';
import { dated } from '../src/text/format';
import { exactTimes } from '../src/ui/exact_times';
import { Time } from '../src/ui/parts';
import { Until } from '../src/ui/until';
import { accessible, blank, show } from './page';
import { spaced } from './spaced';

const HOUR = 3_600_000;
const PLACE = 'link.exact-times';
const at = (ms: number): string => new Date(Date.now() + ms).toISOString();
const PAST = at(-2 * HOUR);
const FUTURE = at(50 * HOUR);

let root: HTMLElement;
const times = (): string[] => [...root.querySelectorAll('time')].map(({ textContent }) => spaced(textContent));
const toggle = (): HTMLInputElement => root.querySelector('[role=switch]') as HTMLInputElement;

/** What a tab is told of the storage that another tab has changed. */
function elsewhere(value: string | null): void {
  if (value === null) localStorage.removeItem(PLACE);
  else localStorage.setItem(PLACE, value);
  dispatchEvent(new StorageEvent('storage', { key: PLACE, newValue: value }));
}

beforeEach(() => {
  root = blank('viewer');
  show(root, <><DisplayCard /><Time at={PAST} /><Until at={FUTURE} /><Time at={null} /></>);
});
afterEach(() => {
  show(root, null);
  vi.restoreAllMocks();
  exactTimes.value = false;
});

describe('exact times', () => {
  it('are off at first, and hold for every time as soon as they are switched on', async () => {
    expect(times()).toEqual(['2 hr. ago', 'in 2 days']);
    await accessible();
    toggle().click();
    const exact = [dated(PAST, Date.now()), dated(FUTURE, Date.now())];
    await vi.waitFor(() => expect(times()).toEqual(exact));
    expect(toggle().checked).toBe(true);
    expect(root.textContent).toContain('never');
    await accessible();
    toggle().click();
    await vi.waitFor(() => expect(times()).toEqual(['2 hr. ago', 'in 2 days']));
  });

  it('are kept in this browser, and its tabs follow each other', async () => {
    toggle().click();
    await vi.waitFor(() => expect(localStorage.getItem(PLACE)).toBe('yes'));
    vi.resetModules();
    const { exactTimes: reloaded } = await import('../src/ui/exact_times');
    expect(reloaded.value).toBe(true);
    elsewhere(null);
    await vi.waitFor(() => expect(toggle().checked).toBe(false));
    elsewhere('yes');
    await vi.waitFor(() => expect(times()[0]).toBe(dated(PAST, Date.now())));
  });

  it('can be switched where the browser keeps nothing', async () => {
    vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
      throw new DOMException('full', 'QuotaExceededError');
    });
    toggle().click();
    await vi.waitFor(() => expect(times()[0]).toBe(dated(PAST, Date.now())));
  });

  it('have a clock time where they are near, and the year where it is another', () => {
    const now = Date.parse('2026-11-28T12:00:00Z');
    expect(dated('2026-11-20T12:34:00Z', now)).toMatch(/^Nov 20, \d\d:34$/);
    expect(dated('2025-11-20T12:00:00Z', now)).toBe('Nov 20, 2025');
    expect(dated('2027-01-29T12:34:00Z', now)).toMatch(/^Jan 29, 2027, \d\d:34$/);
    expect(dated('2026-12-30T12:34:00Z', Date.parse('2027-01-03T12:00:00Z'))).toMatch(/^Dec 30, 2026, \d\d:34$/);
    expect(dated('2026-02-10T12:34:00Z', now)).toBe('Feb 10, 2026');
  });
});
