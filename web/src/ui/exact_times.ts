// Whether pages say when something was, or how long ago it was. This browser remembers it, for whoever uses it.

import { effect, signal } from '@preact/signals';

import { ago, dated } from '../text/format';
import { ahead } from '../text/until';
import { now } from './clock';

const PLACE = 'link.exact-times';

export const exactTimes = signal(kept());

addEventListener('storage', ({ key }) => {
  if (key === PLACE || key === null) exactTimes.value = kept();
});

effect(() => {
  try {
    if (exactTimes.value) localStorage.setItem(PLACE, 'yes');
    else localStorage.removeItem(PLACE);
  } catch {
    // A browser that keeps nothing has the choice until the page is left.
  }
});

function kept(): boolean {
  try {
    return localStorage.getItem(PLACE) === 'yes';
  } catch {
    return false;
  }
}

/** Returns a time in the past as this browser shows it. */
export function past(at: string): string {
  return exactTimes.value ? dated(at, now.value) : ago(at, now.value);
}

/** Returns a time in the future as this browser shows it. */
export function future(at: string): string {
  return exactTimes.value ? dated(at, now.value) : ahead(at, now.value);
}
