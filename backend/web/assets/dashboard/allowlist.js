// The allowlist that deployments carry from now on: the account's own origins, which are edited here,
// and the defaults of the backend, which are not.

import * as api from '../shared/api.js';
import { busy, button, element, field } from '../shared/dom.js';
import { notice } from '../shared/notice.js';
import { section } from './section.js';

export function allowlistSection(reload) {
  const { card, body } = section({
    id: 'allowlist',
    title: 'Allowed origins',
    hint: 'Web pages of these origins may call a served model from a browser.',
  });
  const origins = element('textarea', { id: 'origins', rows: '4', spellcheck: 'false', class: 'mono' });
  const failed = element('p', { class: 'form-error', role: 'alert' });
  const save = element('button', { type: 'submit', class: 'primary' }, 'Save');
  const addOurs = button(`Add ${location.origin}`, {
    on: {
      click: () => {
        origins.value = [...lines(origins.value), location.origin].join('\n');
        compare();
      },
    },
  });
  const always = element('p', { class: 'hint', id: 'default-origins' });
  let saved = null;
  let defaults = [];

  const compare = () => {
    save.disabled = origins.value === saved;
    addOurs.hidden = [...lines(origins.value), ...defaults].includes(location.origin);
  };
  const sent = async (event) => {
    event.preventDefault();
    failed.textContent = '';
    try {
      const list = await busy(save, () => api.setAllowlist(lines(origins.value)));
      saved = origins.value = list.origins.join('\n');
      notice('Saved. Deployments that lack an origin are marked as stale until they are repaired.');
    } catch (error) {
      failed.textContent = api.explain(error);
    }
    compare();
    reload();
  };
  origins.addEventListener('input', compare);
  body.append(
    element(
      'form',
      { class: 'origins', on: { submit: sent } },
      field('Origins', origins, 'One to a line, such as https://workspace.example. No path, no wildcard.'),
      always,
      element('div', { class: 'form-foot' }, save, addOurs, failed),
    ),
  );
  return {
    card,
    show: ({ allowlist }) => {
      const text = allowlist.origins.join('\n');
      defaults = allowlist.defaults;
      always.hidden = defaults.length === 0;
      always.textContent = `Allowed for every account of this backend: ${defaults.join(', ')}`;
      // What somebody is typing is not overwritten.
      if (saved === null || origins.value === saved) origins.value = text;
      saved = text;
      compare();
    },
  };
}

function lines(text) {
  return text.split(/\s+/).filter(Boolean);
}
