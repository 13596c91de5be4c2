// The time of the page, in steps: times such as "2 minutes ago" stay true without a timer for each.

import { signal } from '@preact/signals';

const STEP = 10_000;

export const now = signal(Date.now());

setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now();
}, STEP);
document.addEventListener('visibilitychange', () => {
  now.value = Date.now();
});
