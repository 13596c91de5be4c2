// The two ways in: logging in, and setting up the first account with the setup token.

import { explain } from './api.js';
import { busy, element, field } from './dom.js';
import { logIn, setUp } from './session.js';

/** Shows the forms in `root` until somebody is logged in. Returns who that is. */
export function signIn(root) {
  return new Promise((entered) => {
    const token = setupToken();
    const show = (form) => {
      root.replaceChildren(form);
      const empty = [...form.querySelectorAll('input')].find((input) => input.value === '');
      empty?.focus();
    };
    const login = () => show(loginForm(entered, setup));
    const setup = () => show(setupForm(entered, login, token));
    if (token === null) login();
    else setup();
  });
}

function loginForm(entered, other) {
  const email = input('email', { type: 'email', autocomplete: 'username' });
  const password = input('password', { type: 'password', autocomplete: 'current-password' });
  return form({
    title: 'Log in',
    fields: [field('E-mail', email), field('Password', password)],
    submit: 'Log in',
    work: () => logIn(email.value.trim(), password.value),
    entered,
    question: 'First start of this backend?',
    otherLabel: 'Set up the first account',
    other,
  });
}

function setupForm(entered, other, token) {
  const setupToken = input('setup-token', { autocomplete: 'off', spellcheck: 'false' });
  setupToken.value = token ?? '';
  const email = input('email', { type: 'email', autocomplete: 'username' });
  const password = input('password', {
    type: 'password',
    autocomplete: 'new-password',
    minlength: '12',
    maxlength: '200',
  });
  return form({
    title: 'Set up the first account',
    fields: [
      field('Setup token', setupToken, 'It is in the file setup-token of the backend’s data folder.'),
      field('E-mail', email),
      field('Password', password, '12 to 200 characters.'),
    ],
    submit: 'Create the account',
    work: () => setUp(setupToken.value.trim(), email.value.trim(), password.value),
    entered,
    question: 'Already set up?',
    otherLabel: 'Log in',
    other,
  });
}

function form({ title, fields, submit, work, entered, question, otherLabel, other }) {
  const failed = element('p', { class: 'form-error', role: 'alert' });
  const enter = element('button', { type: 'submit', class: 'primary' }, submit);
  const sent = async (event) => {
    event.preventDefault();
    failed.textContent = '';
    try {
      entered(await busy(enter, work));
    } catch (error) {
      failed.textContent = explain(error);
    }
  };
  const swap = element('button', { type: 'button', class: 'linklike', on: { click: other } }, otherLabel);
  return element(
    'form',
    { class: 'card entry', 'aria-labelledby': 'entry-title', on: { submit: sent } },
    element('h1', { id: 'entry-title' }, title),
    ...fields,
    failed,
    enter,
    element('p', { class: 'hint' }, `${question} `, swap),
  );
}

function input(id, options) {
  return element('input', { id, name: id, required: true, ...options });
}

/** The token of an address that ends in `#setup` or `#setup=TOKEN`, or null for any other. */
function setupToken() {
  const found = /^#setup(?:=(.*))?$/.exec(location.hash);
  if (!found) return null;
  history.replaceState(null, '', location.pathname + location.search);
  return decodeURIComponent(found[1] ?? '');
}
