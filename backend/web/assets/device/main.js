// Lets a machine log in as the person at this page (RFC 8628): type its code, look at what asks,
// agree or refuse. A code in the address fills the field and decides nothing.

import { decideDevice, explain, inquireDevice } from '../shared/api.js';
import { busy, button, element, field } from '../shared/dom.js';
import { moment } from '../shared/format.js';
import { open } from '../shared/page.js';

const given = decodeURIComponent(location.hash.slice(1)).slice(0, 20);

open(async (root, who) => ask(root, who, given));

function ask(root, who, code) {
  const input = element('input', {
    id: 'user-code',
    name: 'user-code',
    required: true,
    autocomplete: 'off',
    autocapitalize: 'characters',
    spellcheck: 'false',
    maxlength: '20',
    class: 'mono',
  });
  input.value = code;
  const failed = element('p', { class: 'form-error', role: 'alert' });
  const go = element('button', { type: 'submit', class: 'primary' }, 'Continue');
  const sent = async (event) => {
    event.preventDefault();
    failed.textContent = '';
    try {
      let pending = null;
      await busy(go, async () => {
        pending = await inquireDevice(input.value);
      });
      decide(root, who, pending);
    } catch (error) {
      failed.textContent = explain(error);
      input.focus();
    }
  };
  root.replaceChildren(
    element(
      'form',
      { class: 'card entry', 'aria-labelledby': 'entry-title', on: { submit: sent } },
      element('h1', { id: 'entry-title' }, 'Log a machine in'),
      field('Code', input, 'The machine shows it, such as WDJB-MJHT.'),
      failed,
      go,
    ),
  );
  input.focus();
}

function decide(root, who, pending) {
  const failed = element('p', { class: 'form-error', role: 'alert' });
  const say = (control, allow) => async () => {
    failed.textContent = '';
    try {
      await busy(control(), () => decideDevice(pending.user_code, allow));
      end(root, allow);
    } catch (error) {
      failed.textContent = explain(error);
    }
  };
  const allow = button('Allow', { class: 'primary', on: { click: say(() => allow, true) } });
  const refuse = button('Refuse', { on: { click: say(() => refuse, false) } });
  root.replaceChildren(
    element(
      'div',
      { class: 'card entry' },
      element('h1', {}, 'Is this your machine?'),
      element(
        'p',
        {},
        element('strong', {}, pending.client_name),
        ' wants to log in as ',
        element('strong', {}, who.email),
        ' and shows this code:',
      ),
      element('p', { class: 'code mono' }, pending.user_code),
      element('p', { class: 'hint' }, `It asked from ${pending.address}, ${moment(pending.created_at)}.`),
      element('p', {}, 'Allow it only if you started this yourself and the code is the same there.'),
      failed,
      element('div', { class: 'choice' }, refuse, allow),
    ),
  );
  refuse.focus();
}

function end(root, allowed) {
  const title = element('h1', { tabindex: '-1' }, allowed ? 'The machine is logged in' : 'The machine was refused');
  root.replaceChildren(
    element('div', { class: 'card entry' }, title, element('p', {}, 'You can close this page.')),
  );
  // What was decided is read out, and the focus is not lost with the button that had it.
  title.focus();
}
