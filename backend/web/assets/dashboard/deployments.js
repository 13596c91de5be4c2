// The deployments: their state, and what can be done about them.

import * as api from '../shared/api.js';
import { badge, busy, button, element, field } from '../shared/dom.js';
import { bytes, modelName } from '../shared/format.js';
import { notice } from '../shared/notice.js';
import { carryOut } from './action.js';
import { isUpdating } from './presence.js';
import { fill, opening, section, table } from './section.js';

const STATES = {
  queued: ['Queued', 'busy'],
  downloading: ['Downloading', 'busy'],
  configuring: ['Configuring', 'busy'],
  completed: ['Deployed', 'calm'],
  failed: ['Failed', 'bad'],
  cancelled: ['Cancelled', 'calm'],
};
const SERVING = {
  not_serving: ['Not serving', 'calm'],
  starting: ['Loading', 'busy'],
  serving: ['Serving', 'good'],
  stopping: ['Stopping', 'busy'],
  removed: ['Removed', 'calm'],
};

export function deploymentsSection(reload) {
  const repairAll = button('Repair all stale', { class: 'primary', id: 'repair-all', hidden: true });
  const { card, body } = section({ id: 'deployments', title: 'Deployments', head: [repairAll] });
  const { form, offer } = deployForm(reload);
  card.append(opening('Deploy a model', form));
  const draw = table(body, {
    columns: ['Model', 'Device', 'Address', 'State', 'Actions'],
    empty: 'Nothing is deployed.',
    row: (item) => [
      [item.model, element('span', { class: 'sub mono' }, item.alias)],
      [item.device, element('span', { class: 'sub' }, presence(item))],
      element('span', { class: 'mono' }, `127.0.0.1:${item.serving?.port ?? item.port}`),
      state(item),
      item.updating ? null : actions(item, reload),
    ],
  });
  let stale = [];
  repairAll.addEventListener('click', () =>
    busy(repairAll, async () => {
      await Promise.all(stale.map((item) => carryOut('repair', item, reload)));
    }),
  );
  return {
    card,
    show: ({ deployments, devices, models }) => {
      const items = deployments.map((item) => named(item, devices, models)).filter(present);
      draw(items);
      stale = items.filter(
        (item) => item.stale && item.state === 'completed' && item.online && !item.updating,
      );
      repairAll.hidden = stale.length === 0;
      repairAll.textContent = `Repair all stale (${stale.length})`;
      offer(models, devices);
    },
  };
}

/** A deployment with the names of its model and its device, without what changes at each load. */
function named({ updated_at: _, ...item }, devices, models) {
  const device = devices.find((other) => other.device_id === item.device_id);
  const model = models.find((other) => other.model_id === item.model_id);
  return {
    ...item,
    model: model ? modelName(model) : item.model_id,
    device: device?.name ?? item.device_id,
    online: device?.online ?? false,
    updating: device ? isUpdating(device) : false,
  };
}

function present(item) {
  return item.serving?.state !== 'removed';
}

function presence(item) {
  if (item.updating) return 'Updating…';
  return item.online ? 'online' : 'offline';
}

function state(item) {
  const [label, tone] = STATES[item.state] ?? [item.state, 'calm'];
  const parts = [];
  if (item.state !== 'completed' || !item.serving) parts.push(badge(label, tone));
  if (item.serving) parts.push(badge(...(SERVING[item.serving.state] ?? [item.serving.state])));
  if (item.stale && item.state === 'completed') {
    parts.push(badge('Stale allowlist', 'warn', 'It lacks an origin of the current allowlist.'));
  }
  const more = [];
  const { bytes_done: done, bytes_total: total } = item.progress;
  if (item.state === 'downloading') {
    const label = `${bytes(done)} of ${bytes(total)}`;
    more.push(
      element('progress', { max: String(total || 1), value: done, 'aria-label': `Download: ${label}` }),
      element('span', { class: 'sub' }, label),
    );
  }
  const reason = item.reason ?? item.serving?.detail;
  if (reason) more.push(element('span', { class: 'sub' }, reason));
  return [element('div', { class: 'states' }, ...parts), ...more];
}

function actions(item, reload) {
  const offer = (action, label, kind = '') =>
    button(label, {
      class: `small ${kind}`,
      data: { key: `${action}-${item.deployment_id}`, action },
      'aria-label': `${label} ${item.model} on ${item.device}`,
      disabled: !item.online,
      title: item.online ? null : 'The device is offline.',
      on: { click: (event) => busy(event.target, () => carryOut(action, item, reload)) },
    });
  const running = ['queued', 'downloading', 'configuring'].includes(item.state);
  const cancel = offer('cancel', 'Cancel');
  // A queued deployment can be given up while the device is away.
  cancel.disabled = false;
  const shown = [];
  if (running) shown.push(cancel);
  if (item.state === 'completed') {
    shown.push(offer('repair', 'Repair', item.stale ? 'primary' : ''));
    const served = ['serving', 'starting'].includes(item.serving?.state);
    shown.push(served ? offer('stop', 'Stop') : offer('serve', 'Serve'));
  }
  if (!running) shown.push(offer('redeploy', 'Redeploy'));
  if (item.state === 'completed') shown.push(offer('remove', 'Remove', 'danger'));
  return element('div', { class: 'actions' }, ...shown);
}

function deployForm(reload) {
  const model = element('select', { id: 'deploy-model', required: true });
  const device = element('select', { id: 'deploy-device', required: true });
  const port = element('input', { id: 'deploy-port', type: 'number', min: '1', max: '65535', step: '1' });
  const alias = element('input', {
    id: 'deploy-alias',
    pattern: '[a-z0-9][a-z0-9._\\-]{0,63}',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const serve = element('input', { id: 'deploy-serve', type: 'checkbox', checked: true });
  const failed = element('p', { class: 'form-error', role: 'alert' });
  const submit = element('button', { type: 'submit', class: 'primary' }, 'Deploy');
  const sent = async (event) => {
    event.preventDefault();
    failed.textContent = '';
    const body = { model_id: model.value, device_id: device.value, serve: serve.checked };
    if (port.value) body.port = Number(port.value);
    if (alias.value.trim()) body.alias = alias.value.trim();
    try {
      await busy(submit, () => api.deploy(body));
      notice('The deployment is on its way to the device.');
    } catch (error) {
      failed.textContent = api.explain(error);
    }
    reload();
  };
  const form = element(
    'form',
    { on: { submit: sent } },
    element(
      'div',
      { class: 'grid' },
      field('Model', model),
      field('Device', device),
      field('Port', port, 'Leave empty to keep the current port, or 8080.'),
      field('Alias', alias, 'Leave empty to keep the current alias, or derive one from the model’s name.'),
    ),
    element(
      'div',
      { class: 'form-foot' },
      element('label', { class: 'check', for: serve.id }, serve, 'Serve it as soon as it is there'),
      submit,
      failed,
    ),
  );
  const offer = (models, devices) => {
    const ready = models.filter((item) => item.ready && (item.owned || item.shared));
    const named = (item) => (item.owned ? item.name : `${modelName(item)} (shared by ${item.publisher})`);
    fill(model, ready.map((item) => [item.model_id, named(item)]), 'No model is ready');
    fill(
      device,
      devices.map((item) => [item.device_id, item.online ? item.name : `${item.name} (offline)`]),
      'No device is registered',
    );
    submit.disabled = ready.length === 0 || devices.length === 0;
  };
  return { form, offer };
}
