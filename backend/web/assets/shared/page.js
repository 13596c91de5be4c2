// What both pages share: the header, and the way from "not logged in" to the page's own content.

import { explain } from './api.js';
import { button, element } from './dom.js';
import { signIn } from './login.js';
import { logOut, onEnd, redeemCode, resume } from './session.js';

const PAGES = [
  ['/', 'Dashboard'],
  ['/devices', 'Devices'],
  ['/workspace', 'Workspace'],
];

/** Logs in if needed, then calls `run` with the element that the page may fill and who that is. */
export async function open(run) {
  const root = document.getElementById('content');
  header(null);
  try {
    const who = (await redeemCode()) ?? (await resume()) ?? (await signIn(root));
    // What a page keeps running belongs to one login; the next one starts from a fresh page.
    onEnd(() => location.reload());
    header(who);
    root.replaceChildren();
    await run(root, who);
  } catch (error) {
    const again = button('Try again', { class: 'primary', on: { click: () => location.reload() } });
    root.replaceChildren(
      element('div', { class: 'card entry' }, element('p', { role: 'alert' }, explain(error)), again),
    );
  }
}

function header(who) {
  const here = location.pathname.replace(/(.)\/$/, '$1');
  const links = PAGES.map(([path, name]) =>
    element('a', { href: path, 'aria-current': path === here ? 'page' : null }, name),
  );
  const account = who
    ? [
        element('span', { class: 'who', title: 'Logged in as' }, who.email),
        button('Log out', { class: 'quiet', on: { click: logOut } }),
      ]
    : [];
  document.getElementById('header').replaceChildren(
    element(
      'a',
      { class: 'brand', href: '/' },
      element('img', { src: '/assets/icon.svg', alt: '', width: '24', height: '24' }),
      'Link',
    ),
    element('nav', { 'aria-label': 'Pages' }, ...(who ? links : [])),
    element('div', { class: 'account' }, ...account),
  );
}
