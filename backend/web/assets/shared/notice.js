// Short notices at the edge of the page, read out by screen readers.

import { button, element } from './dom.js';

/** How long a good notice stays, in milliseconds. */
const STAY = 8_000;

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
