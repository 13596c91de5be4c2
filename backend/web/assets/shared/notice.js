// Short notices at the edge of the page, read out by screen readers.

import { button, element } from './dom.js';

/** How long a good notice stays, in milliseconds. */
const STAY = 6_000;
/** How many notices are shown at a time; the oldest good ones make room. */
const MOST = 3;

/**
 * Shows a notice; `tone` is `good`, `bad` or `busy`. Returns what changes it. A bad one stays until
 * it is closed, a busy one until it is changed.
 */
export function notice(text, tone = 'good') {
  const words = element('p', {}, text);
  const close = button('Close', { class: 'quiet', 'aria-label': 'Close this notice' });
  const box = element('div', { class: `notice ${tone}` }, words, close);
  let timer = null;
  close.addEventListener('click', () => box.remove());
  const settle = () => {
    clearTimeout(timer);
    makeRoom(box);
    if (box.classList.contains('good')) timer = setTimeout(() => box.remove(), STAY);
  };
  document.getElementById('notices').append(box);
  settle();
  return (next, nextTone) => {
    words.textContent = next;
    box.className = `notice ${nextTone}`;
    if (!box.isConnected) document.getElementById('notices').append(box);
    settle();
  };
}

function makeRoom(newest) {
  const shown = [...document.querySelectorAll('.notice')];
  const old = shown.filter((box) => box !== newest && box.classList.contains('good'));
  for (const box of old.slice(0, Math.max(shown.length - MOST, 0))) box.remove();
}
