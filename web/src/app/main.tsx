// Starts the pages: takes up the login of the tab, then shows the shell or the login.

import '../ui/tokens.css';
import '../ui/base.css';
import '../ui/parts.css';
import '../ui/filters.css';
import '../ui/layers.css';
import './shell.css';

import { effect, untracked } from '@preact/signals';
import { render } from 'preact';

import { resume, session } from '../data/session';
import { start, stop } from '../data/store';
import { language } from '../text';
import { failure } from '../ui/notices';
import { listen } from '../ui/router';
import { App } from './app';

listen();
effect(() => {
  const state = session.value;
  untracked(() => {
    if (state === 'in') start().catch(failure);
    else stop();
  });
});
const root = document.getElementById('app');
if (import.meta.env.DEV && location.pathname === '/ui') {
  // A build leaves this out, with the page of the parts.
  import('../ui/gallery/page').then(({ Gallery }) => root && render(<Gallery />, root)).catch(failure);
} else {
  if (root) render(<App />, root);
  void resume();
  // The first number that is written takes a slow processor longer than a frame: that passes while answers are on their way.
  setTimeout(() => (0).toLocaleString(language));
}
