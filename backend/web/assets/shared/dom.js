// Builds elements. Text always goes in as text, so no name or answer can become markup.

/**
 * Returns a new element. `options` takes attributes (`true` and `false` for those without a value),
 * `on` with event listeners, and `data` with data attributes.
 */
export function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === 'on') {
      for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    } else if (name === 'data') {
      Object.assign(made.dataset, value);
    } else if (name === 'value') {
      made.value = value;
    } else if (value === true) {
      made.setAttribute(name, '');
    } else if (value !== false && value !== null && value !== undefined) {
      made.setAttribute(name, value);
    }
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** Returns a button; `options` are those of `element`. */
export function button(label, options = {}) {
  return element('button', { type: 'button', ...options }, label);
}

/** Returns a labelled control with an optional hint below it. */
export function field(label, control, hint) {
  const parts = [element('label', { for: control.id }, label), control];
  if (hint) {
    control.setAttribute('aria-describedby', `${control.id}-hint`);
    parts.push(element('p', { class: 'hint', id: `${control.id}-hint` }, hint));
  }
  return element('div', { class: 'field' }, ...parts);
}

/** Returns a text as nodes; what stands between backticks is code. */
export function prose(text) {
  return text.split('`').map((part, index) => (index % 2 ? element('code', {}, part) : part));
}

/** Returns a small coloured label; `tone` is `good`, `warn`, `bad`, `busy` or `calm`. */
export function badge(text, tone = 'calm', title) {
  return element('span', { class: `badge ${tone}`, title }, text);
}

/**
 * Replaces what `parent` holds. The focus stays where it was when a new element has the same
 * `data-key` as the one that had it.
 */
export function replace(parent, ...children) {
  const key = parent.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  parent.replaceChildren(...children.flat());
  if (key) parent.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

/** Disables `control` until `work` has ended. */
export async function busy(control, work) {
  control.disabled = true;
  control.setAttribute('aria-busy', 'true');
  try {
    return await work();
  } finally {
    control.disabled = false;
    control.removeAttribute('aria-busy');
  }
}
