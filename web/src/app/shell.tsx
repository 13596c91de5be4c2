// The frame of every page: the side bar, which is a drawer on narrow screens, whether what is shown is true, the palette.

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

import { retrying } from '../data/retry';
import { logOut } from '../data/session';
import { live, me } from '../data/store';
import { text } from '../text';
import { Icon, type IconName } from '../ui/icon';
import { narrow } from '../ui/narrow';
import { Foreign } from '../ui/parts';
import { path } from '../ui/router';
import { administration } from './administration';
import '../ui/role_notice';
import '../ui/update_notice';
import { Palette, paletteOpen } from './palette';
import { Newer } from './newer';

/** How long a broken stream goes unmentioned, in milliseconds: most cuts are mended before. */
const UNMENTIONED = 3_000;

const LINKS: readonly { href: string; name: string; icon: IconName }[] = [
  { href: '/', name: text.overviewPage.title, icon: 'overview' },
  { href: '/devices', name: text.shell.devices, icon: 'devices' },
  { href: '/models', name: text.catalogue.title, icon: 'box' },
  { href: '/deployments', name: text.deployed.title, icon: 'rocket' },
  { href: '/repairs', name: text.repairing.title, icon: 'wrench' },
  { href: '/operations', name: text.works.title, icon: 'tasks' },
  { href: '/workspace', name: text.shell.workspace, icon: 'chat' },
  { href: '/docs', name: text.shell.api, icon: 'book' },
];

export function Shell({ children }: { children: ComponentChildren }) {
  const drawer = useSignal(false);
  const menu = useRef<HTMLButtonElement>(null);
  const sidebar = useRef<HTMLElement>(null);
  const close = (): void => {
    if (!drawer.peek()) return;
    drawer.value = false;
    menu.current?.focus();
  };
  // Before the router moves the focus: a page that is inert cannot take it.
  useLayoutEffect(() => {
    drawer.value = false;
  }, [path.value]);
  useEffect(() => {
    if (drawer.value) sidebar.current?.querySelector<HTMLElement>('nav a')?.focus();
  }, [drawer.value]);
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        paletteOpen.value = true;
      } else if (event.key === 'Escape') close();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  return (
    <div class="shell">
      <a class="skip" href="#content">
        {text.shell.skip}
      </a>
      <header class="topbar">
        <button
          ref={menu}
          type="button"
          class="icon-button"
          aria-label={drawer.value ? text.shell.closeMenu : text.shell.menu}
          aria-expanded={drawer.value}
          onClick={() => (drawer.peek() ? close() : (drawer.value = true))}
        >
          <Icon name={drawer.value ? 'close' : 'menu'} />
        </button>
        <Brand />
        <button type="button" class="icon-button" aria-label={text.shell.search} onClick={() => (paletteOpen.value = true)}>
          <Icon name="search" />
        </button>
      </header>
      {drawer.value && <div class="shade" onClick={close} />}
      <aside ref={sidebar} class={drawer.value ? 'sidebar open' : 'sidebar'}>
        <Brand />
        <button type="button" class="search-button" onClick={() => (paletteOpen.value = true)}>
          <Icon name="search" />
          <span>{text.shell.search}</span>
          <kbd>{text.shell.searchKeys}</kbd>
        </button>
        <nav aria-label={text.shell.pages}>
          {LINKS.map(({ href, name, icon }) => (
            <a key={href} href={href} aria-current={isHere(href) ? 'page' : undefined}>
              <Icon name={icon} />
              {name}
            </a>
          ))}
        </nav>
        <Administration />
        <Account />
      </aside>
      <main id="content" tabIndex={-1} inert={drawer.value && narrow.value}>
        <Truth />
        <Newer />
        {children}
      </main>
      {paletteOpen.value && <Palette />}
    </div>
  );
}

function Administration() {
  const pages = administration(me.value?.role);
  if (pages.length === 0) return null;
  return (
    <nav aria-labelledby="administration">
      <h2 id="administration" class="nav-title">
        {text.admin.group}
      </h2>
      {pages.map(({ href, name, icon }) => (
        <a key={href} href={href} aria-current={isHere(href) ? 'page' : undefined}>
          <Icon name={icon} />
          {name}
        </a>
      ))}
    </nav>
  );
}

function isHere(href: string): boolean {
  return path.value === href || (href !== '/' && path.value.startsWith(`${href}/`));
}

function Brand() {
  return (
    <a class="brand" href="/">
      <img src="/assets/icon.svg" alt="" width="22" height="22" />
      {text.product}
    </a>
  );
}

function Account() {
  const state = live.value.state;
  return (
    <div class="account">
      <span class={`pulse ${state}`}>{state === 'live' ? text.shell.live : text.shell.connecting}</span>
      {me.value && (
        <>
          <Foreign class="email">{me.value.email}</Foreign>
          <span class="soft small">{text.shell.role[me.value.role]}</span>
        </>
      )}
      <button type="button" class="button quiet" onClick={() => void logOut()}>
        <Icon name="out" />
        {text.shell.logOut}
      </button>
    </div>
  );
}

/** Says how old the page is while the stream is cut, or that there is nothing to show yet. */
function Truth() {
  const current = live.value;
  const age = useSignal(0);
  const since = current.state === 'lost' ? current.since : null;
  useEffect(() => {
    age.value = 0;
    if (since === null) return undefined;
    const timer = setInterval(() => (age.value = Date.now() - since), 1_000);
    return () => clearInterval(timer);
  }, [since]);
  const cut = since !== null && age.value >= UNMENTIONED;
  const shown = retrying.value || cut;
  // The age is for the eye: a screen reader would read it out every second.
  return (
    <div role="status">
      {shown && (
        <p class="truth">
          <Icon name="warning" />
          <span class={retrying.value ? '' : 'visually-hidden'}>{retrying.value ? text.shell.unreachable : text.shell.cut}</span>
          {!retrying.value && <span aria-hidden="true">{text.shell.lost(Math.round(age.value / 1000))}</span>}
        </p>
      )}
    </div>
  );
}
