// The frame of one section: a card with a heading, a table that is drawn again when its rows have
// changed, and a form that opens below it.

import { element, prose, replace } from '../shared/dom.js';

/** Returns a section with an empty body; `head` stands to the right of the heading. */
export function section({ id, title, hint, head = [] }) {
  const body = element('div', { class: 'table' });
  const card = element(
    'section',
    { class: 'card section', 'aria-labelledby': `${id}-title`, id },
    element(
      'div',
      { class: 'section-head' },
      element('h2', { id: `${id}-title` }, title),
      hint ? element('p', { class: 'hint' }, hint) : null,
      ...head,
    ),
    body,
  );
  return { card, body };
}

/** Returns a function that draws a table in `body` whenever what it is called with has changed. */
export function table(body, { columns, empty, row }) {
  let drawn = null;
  return (rows, ...context) => {
    const state = JSON.stringify([rows, context]);
    if (state === drawn) return;
    drawn = state;
    if (rows.length === 0) {
      replace(body, element('p', { class: 'empty' }, ...prose(empty)));
      return;
    }
    // The roles are said aloud, because the narrow layout takes them from the elements.
    const heads = columns.map((name) =>
      element(
        'th',
        { scope: 'col', role: 'columnheader', class: name === 'Actions' ? 'actions-head' : null },
        name,
      ),
    );
    const cells = (item) =>
      row(item, ...context).map((cell, index) =>
        element('td', { role: 'cell', data: { label: columns[index] } }, element('div', {}, cell)),
      );
    const lines = rows.map((item) => element('tr', { role: 'row' }, ...cells(item)));
    replace(
      body,
      element(
        'table',
        { role: 'table' },
        element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...heads)),
        element('tbody', { role: 'rowgroup' }, ...lines),
      ),
    );
  };
}

/** Returns a form that opens below a section's table. */
export function opening(label, form) {
  return element('details', { class: 'add' }, element('summary', {}, label), form);
}

/** Fills a select with `[value, label]` pairs and keeps the choice. */
export function fill(select, choices, none) {
  const state = JSON.stringify(choices);
  if (select.dataset.choices === state) return;
  select.dataset.choices = state;
  const chosen = select.value;
  const options = choices.map(([value, label]) => element('option', { value }, label));
  if (options.length === 0) options.push(element('option', { value: '' }, none));
  select.replaceChildren(...options);
  if (choices.some(([value]) => value === chosen)) select.value = chosen;
}
