// The address is the state: path and query as signals, changed without loading a page anew. An address that is not in
// `addresses.ts`, or has a policy of its own, is loaded by the browser.

import { batch, signal } from '@preact/signals';

import { sharesDocument } from './addresses';

export const path = signal(location.pathname);
export const query = signal(new URLSearchParams(location.search));

/** Goes to an address of this origin. `replace` leaves no entry in the history, as for every letter of a search. */
export function go(address: string, { replace = false } = {}): void {
  const url = new URL(address, location.href);
  // Some addresses come from a link that anybody can write.
  if (url.origin !== location.origin) return;
  if (!sharesDocument(location.pathname, url.pathname)) {
    location.assign(url);
    return;
  }
  const moves = url.pathname !== location.pathname;
  if (replace) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  read();
  if (moves) scrollTo(0, 0);
}

/** Changes parameters of the query; `null` removes one. */
export function change(parameters: Record<string, string | null>, options?: { replace?: boolean }): void {
  go(addressWith(parameters, query.peek()), options);
}

/** Returns the address of this page with other parameters; `null` removes one. */
export function addressWith(parameters: Record<string, string | null>, from = query.value): string {
  const next = new URLSearchParams(from);
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null || value === '') next.delete(name);
    else next.set(name, value);
  }
  const words = next.toString();
  return words === '' ? path.peek() : `${path.peek()}?${words}`;
}

/** Follows Back, and clicks on links to pages of this application. */
export function listen(): void {
  addEventListener('popstate', read);
  document.addEventListener('click', (event) => {
    const plain = !event.defaultPrevented && event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    const link = plain && event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || link.origin !== location.origin || link.target !== '' || link.hasAttribute('download')) return;
    if (!sharesDocument(location.pathname, link.pathname) || link.hash !== '') return;
    event.preventDefault();
    go(link.href);
  });
}

function read(): void {
  const moves = path.peek() !== location.pathname;
  batch(() => {
    path.value = location.pathname;
    query.value = new URLSearchParams(location.search);
  });
  // After the drawing: a dialog that is closed by it gives the focus back first.
  if (moves) setTimeout(() => document.getElementById('content')?.focus({ preventScroll: true }));
}
