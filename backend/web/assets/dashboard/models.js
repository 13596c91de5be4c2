// The models that can be deployed, and the two ways to add one: a file, or an address with its
// checksum.

import * as api from '../shared/api.js';
import { badge, busy, element, field } from '../shared/dom.js';
import { bytes, modelName } from '../shared/format.js';
import { notice } from '../shared/notice.js';
import { opening, section, table } from './section.js';

export function modelsSection(reload) {
  const { card, body } = section({ id: 'models', title: 'Models' });
  card.append(opening('Add a model', form(reload)));
  const draw = table(body, {
    columns: ['Model', 'File', 'Size', 'Source', 'State'],
    empty: 'No model yet. Add one below.',
    row: (model) => [
      [modelName(model), element('span', { class: 'sub mono' }, model.model_id)],
      element('span', { class: 'mono' }, model.file_name),
      bytes(model.size_bytes),
      model.url ? element('span', { title: model.url }, new URL(model.url).host) : 'Uploaded',
      element(
        'div',
        { class: 'states' },
        model.ready ? badge('Ready', 'good') : badge('Incomplete', 'warn'),
        whose(model),
      ),
    ],
  });
  return { card, show: ({ models }) => draw(models) };
}

function whose({ owned, shared, publisher }) {
  if (owned) return shared ? badge('Shared') : null;
  if (shared) return badge(`Shared by ${publisher}`);
  return badge('Not shared any more', 'warn', `${publisher} shares it no longer; it stays where it is deployed.`);
}

function form(reload) {
  const name = input('model-name', { required: true, maxlength: '100', autocomplete: 'off' });
  const file = input('model-file', { type: 'file', required: true, accept: '.gguf' });
  const url = input('model-url', { type: 'url', placeholder: 'https://…' });
  const sha256 = input('model-sha256', { pattern: '[0-9a-f]{64}', spellcheck: 'false' });
  const size = input('model-size', { type: 'number', min: '1', step: '1' });
  const shared = input('model-shared', { type: 'checkbox' });
  const uploaded = field('Model file', file, 'A .gguf file.');
  const fetched = [
    field('Address', url, 'Devices fetch it from there; the backend keeps no copy.'),
    field('SHA-256', sha256, '64 hexadecimal digits.'),
    field('Size in bytes', size),
  ];
  const byFile = input('from-file', { type: 'radio', checked: true });
  const byAddress = input('from-address', { type: 'radio' });
  byFile.name = byAddress.name = 'model-source';
  const choose = () => {
    uploaded.hidden = byAddress.checked;
    file.required = byFile.checked;
    for (const part of fetched) part.hidden = byFile.checked;
    for (const control of [url, sha256, size]) control.required = byAddress.checked;
  };
  byFile.addEventListener('change', choose);
  byAddress.addEventListener('change', choose);
  choose();

  const failed = element('p', { class: 'form-error', role: 'alert' });
  const add = element('button', { type: 'submit', class: 'primary' }, 'Add the model');
  const sent = async (event) => {
    event.preventDefault();
    failed.textContent = '';
    const common = { name: name.value.trim(), shared: shared.checked };
    try {
      await busy(add, () =>
        byFile.checked
          ? addFile(common, file.files[0])
          : api.createModel({
              ...common,
              url: url.value.trim(),
              file_name: lastPart(url.value.trim()),
              sha256: sha256.value.trim(),
              size_bytes: Number(size.value),
            }),
      );
      made.reset();
      choose();
    } catch (error) {
      failed.textContent = api.explain(error);
    }
    reload();
  };
  const made = element(
    'form',
    { on: { submit: sent } },
    element(
      'fieldset',
      { class: 'choice' },
      element('legend', {}, 'Where the file comes from'),
      check('Upload a file', byFile),
      check('Fetch it from an address', byAddress),
    ),
    element('div', { class: 'grid' }, field('Name', name), uploaded, ...fetched),
    element(
      'div',
      { class: 'form-foot' },
      check('Shared with every account of this backend', shared),
      add,
      failed,
    ),
  );
  return made;
}

async function addFile(common, file) {
  const model = await api.createModel({ ...common, file_name: file.name });
  const change = notice(`Uploading ${file.name}…`, 'busy');
  try {
    await api.uploadModel(model.model_id, file, (share) =>
      change(`Uploading ${file.name}: ${Math.floor(share * 100)} %`, 'busy'),
    );
    change(`${file.name} is uploaded.`, 'good');
  } catch (error) {
    change(`${file.name} was not uploaded. ${api.explain(error)}`, 'bad');
  }
}

function input(id, options) {
  return element('input', { id, name: id, ...options });
}

function check(label, control) {
  return element('label', { class: 'check', for: control.id }, control, label);
}

function lastPart(address) {
  return decodeURIComponent(new URL(address).pathname.split('/').pop() ?? '');
}
