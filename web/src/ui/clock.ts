// The time of the page by the backend's clock, in steps: times such as "2 minutes ago" stay true without a timer for each.

import { effect, signal } from '@preact/signals';

import { skew } from '../data/skew';

const STEP = 10_000;

export const now = signal(Date.now());

const look = (): void => {
  now.value = Date.now() + skew.peek();
};

effect(() => {
  void skew.value;
  look();
});
setInterval(() => {
  if (document.visibilityState === 'visible') look();
}, STEP);
document.addEventListener('visibilitychange', look);
