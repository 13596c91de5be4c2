// The control that updates the agent of a device. It outlives the row that it stands in, which is
// drawn again and again, so that a version that somebody is typing stays.

import * as api from '../shared/api.js';
import { busy, button, element } from '../shared/dom.js';
import { sentence } from '../shared/format.js';
import { notice } from '../shared/notice.js';
import { follow } from './action.js';

/** Returns a function that gives the control of a device; `reload` shows what it changed. */
export function updateControls(reload) {
  const controls = new Map();
  return (device) => {
    const id = device.device_id;
    if (!controls.has(id)) controls.set(id, control(id, reload));
    const { root, show } = controls.get(id);
    show(device);
    return root;
  };
}

function control(id, reload) {
  let device;
  const version = element('input', {
    id: `version-${id}`,
    data: { key: `version-${id}` },
    class: 'mono',
    autocomplete: 'off',
    spellcheck: 'false',
    required: true,
    pattern: '\\d+\\.\\d+\\.\\d+([\\-+][0-9A-Za-z.+\\-]+)?',
    title: 'A version such as 1.4.0',
    placeholder: '1.4.0',
  });
  const submit = element(
    'button',
    { type: 'submit', class: 'small primary', data: { key: `update-${id}` } },
    'Install',
  );
  const failed = element('p', { class: 'form-error', role: 'alert' });
  const form = element(
    'form',
    { class: 'update', id: `update-form-${id}`, hidden: true, on: { submit: sent } },
    element('label', { for: version.id }, 'Version'),
    version,
    submit,
    failed,
  );
  const opener = button('Update', {
    class: 'small',
    data: { key: `update-open-${id}`, action: 'update' },
    'aria-controls': form.id,
    on: { click: () => open(form.hidden) },
  });

  function open(wanted) {
    form.hidden = !wanted;
    opener.setAttribute('aria-expanded', String(wanted));
    failed.textContent = '';
    if (wanted) version.focus();
  }

  async function sent(event) {
    event.preventDefault();
    failed.textContent = '';
    const { name, online } = device;
    const wanted = version.value.trim();
    let command;
    try {
      command = await busy(submit, () => api.updateDevice(id, wanted));
    } catch (error) {
      failed.textContent = api.explain(error);
      version.focus();
      return;
    }
    version.value = '';
    opener.focus();
    open(false);
    if (online) {
      await follow(command, {
        doing: `Updating ${name} to ${wanted}`,
        what: name,
        done: (output) => `${name}: ${sentence(output)}`,
      });
      reload();
    } else {
      notice(`${name} is offline. It is updated to ${wanted} when it is back.`);
    }
  }

  open(false);
  return {
    root: element('div', { class: 'updates' }, opener, form),
    show: (latest) => {
      device = latest;
      opener.setAttribute('aria-label', `Update ${device.name}`);
    },
  };
}
