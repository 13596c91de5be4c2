// Registration and fleet keys. A key is shown once, right after it was made.

import * as api from '../shared/api.js';
import { badge, busy, button, element, field } from '../shared/dom.js';
import { ago, moment } from '../shared/format.js';
import { notice } from '../shared/notice.js';
import { copyable, installer, installLine } from './install_line.js';
import { opening, section, table } from './section.js';

export function keysSection(reload) {
  const { card, body } = section({
    id: 'keys',
    title: 'Keys',
    hint: 'A registration key registers one device, a fleet key many.',
  });
  const shown = element('div', { class: 'shown', 'aria-live': 'polite' });
  card.append(shown, opening('Create a key', form(reload, shown)));
  const revoke = (key) => async (event) => {
    if (!confirm(`Revoke the key “${key.name || key.key_id}”? No device can register with it afterwards.`)) return;
    try {
      await busy(event.target, () => api.revokeKey(key.key_id));
    } catch (error) {
      notice(api.explain(error), 'bad');
    }
    reload();
  };
  const draw = table(body, {
    columns: ['Key', 'Kind', 'Created', 'Devices', 'State', 'Actions'],
    empty: 'No key yet. A device needs one to register.',
    row: (key) => [
      [key.name || 'Unnamed', element('span', { class: 'sub mono' }, key.key_id)],
      key.kind === 'fleet' ? 'Fleet' : 'Registration',
      element('span', { title: moment(key.created_at) }, key.created),
      key.max_devices ? `${key.devices} of ${key.max_devices}` : String(key.devices),
      state(key),
      element(
        'div',
        { class: 'actions' },
        key.revoked
          ? null
          : button('Revoke', {
              class: 'small danger',
              data: { key: `revoke-${key.key_id}` },
              'aria-label': `Revoke ${key.name || key.key_id}`,
              on: { click: revoke(key) },
            }),
      ),
    ],
  });
  return {
    card,
    show: ({ keys }) => draw(keys.map((key) => ({ ...key, created: ago(key.created_at) }))),
  };
}

// The state of a key, in the same words as `link key list`.
function state(key) {
  if (key.revoked) return badge('Revoked');
  if (key.expires_at && Date.parse(key.expires_at) <= Date.now()) return badge('Expired');
  const most = key.kind === 'registration' ? 1 : key.max_devices;
  if (most && key.devices >= most) return badge('Used');
  return badge('Valid', 'good', key.expires_at ? `Until ${moment(key.expires_at)}` : undefined);
}

function form(reload, shown) {
  const kind = element(
    'select',
    { id: 'key-kind' },
    element('option', { value: 'registration' }, 'Registration key: one device'),
    element('option', { value: 'fleet' }, 'Fleet key: many devices'),
  );
  const name = element('input', { id: 'key-name', autocomplete: 'off', maxlength: '100' });
  const days = element('input', { id: 'key-days', type: 'number', min: '1', step: '1' });
  const most = element('input', { id: 'key-most', type: 'number', min: '1', step: '1' });
  const mostField = field('Most devices', most, 'Empty: no limit of its own.');
  const choose = () => {
    mostField.hidden = kind.value !== 'fleet';
  };
  kind.addEventListener('change', choose);
  choose();
  const failed = element('p', { class: 'form-error', role: 'alert' });
  const create = element('button', { type: 'submit', class: 'primary' }, 'Create the key');
  const sent = async (event) => {
    event.preventDefault();
    failed.textContent = '';
    const body = { kind: kind.value, name: name.value.trim() };
    if (days.value) body.expires_at = inDays(Number(days.value));
    if (kind.value === 'fleet' && most.value) body.max_devices = Number(most.value);
    try {
      const [made, found] = await busy(create, () => Promise.all([api.createKey(body), installer()]));
      shown.replaceChildren(secret(made, found, () => shown.replaceChildren()));
      event.target.reset();
      choose();
    } catch (error) {
      failed.textContent = api.explain(error);
    }
    reload();
  };
  return element(
    'form',
    { on: { submit: sent } },
    element(
      'div',
      { class: 'grid' },
      field('Kind', kind),
      field('Name', name, 'What you will know it by.'),
      field('Days it is good for', days, 'Empty: until it is revoked.'),
      mostField,
    ),
    element('div', { class: 'form-foot' }, create, failed),
  );
}

function secret({ key, info }, found, close) {
  return element(
    'div',
    { class: 'secret', id: 'new-key' },
    element('strong', {}, 'Copy this key now. It is not shown again.'),
    copyable(key, 'the key'),
    element('p', { class: 'hint' }, info.kind === 'fleet' ? 'On each device:' : 'On the device:'),
    copyable(installLine(found, info.kind, key), 'the line'),
    element('div', {}, button('I have copied it', { on: { click: close } })),
  );
}

function inDays(days) {
  return new Date(Date.now() + days * 86_400_000).toISOString();
}
