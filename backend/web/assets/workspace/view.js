// Draws the conversation: what was asked, what was answered, what it took, and why it failed.

import { button, element, prose } from '../shared/dom.js';

const LABELS = {
  repair: 'Repair',
  redeploy: 'Redeploy',
  allow: 'Add this origin and repair',
  serve: 'Serve the model',
  retry: 'Try again',
};

/** Returns the bubble of a question. */
export function question(text) {
  return element(
    'article',
    { class: 'turn asked' },
    element('h3', { class: 'hidden' }, 'You'),
    element('p', { class: 'text' }, text),
  );
}

/** Returns an answer that grows, and what makes it grow. */
export function answer(model) {
  const words = document.createTextNode('');
  const text = element('p', { class: 'text' }, words);
  const usage = element('p', { class: 'usage' });
  const card = element(
    'article',
    { class: 'turn answered', 'aria-busy': 'true' },
    element('h3', { class: 'speaker' }, model),
    text,
    usage,
  );
  let started = false;
  usage.textContent = 'Waiting for the first word…';
  return {
    card,
    add(piece) {
      if (!started) usage.textContent = '';
      started = true;
      words.appendData(piece);
    },
    think() {
      if (!started) usage.textContent = 'Thinking…';
    },
    finish(note) {
      card.removeAttribute('aria-busy');
      usage.textContent = note;
    },
  };
}

/** Returns the words for a usage, such as `12 prompt tokens · 22 completion tokens · 0.8 s`. */
export function usageLine(usage, seconds) {
  const parts = [`${seconds.toFixed(1)} s`];
  if (usage) {
    parts.unshift(count(usage.completion_tokens, 'completion token'));
    parts.unshift(count(usage.prompt_tokens, 'prompt token'));
  }
  return parts.join(' · ');
}

/**
 * Returns the card of a failure. `act` is called with the chosen action and a function that shows
 * how far it is; it may throw, and then the card says why.
 */
export function failure(cause, facts, act) {
  const progress = element('p', { class: 'progress', role: 'status' });
  const buttons = cause.actions.map((action, index) =>
    button(LABELS[action], { class: index === 0 ? 'primary' : '', data: { action } }),
  );
  for (const each of buttons) {
    each.addEventListener('click', async () => {
      for (const other of buttons) other.disabled = true;
      const said = (text) => {
        progress.textContent = text;
      };
      try {
        await act(each.dataset.action, said);
      } catch (error) {
        progress.textContent = error.message;
        for (const other of buttons) other.disabled = false;
      }
    });
  }
  const tone = cause.code === 'engine-loading' ? 'mild' : '';
  return element(
    'article',
    { class: `turn cause ${tone}`, role: 'alert', data: { cause: cause.code } },
    element('h3', {}, cause.title),
    element('p', {}, ...prose(cause.detail)),
    element('p', { class: 'remedy' }, ...prose(cause.remedy)),
    element('div', { class: 'buttons' }, ...buttons, progress),
    checked(facts),
  );
}

/** What was looked at, for whoever wants to know or to pass it on. */
function checked({ page, reachable, permission, backend, device, deployment, allowlist, seen, target }) {
  const rows = [
    ['This page', `${page.origin}${page.secure ? '' : ' (not a secure context)'}`],
    ['The browser said', seen.message ?? '–'],
    [`127.0.0.1:${target.port}`, reachable ? 'answers' : 'does not answer'],
    ['Permission for the local network', page.loopback ? 'not needed' : (permission ?? 'not known to this browser')],
    ['Backend', backend ? 'answers' : 'does not answer'],
    [target.device, device ? (device.online ? 'online' : 'offline') : 'not known'],
    [target.model, deployment ? deployment.state.replace('_', ' ') : 'not known'],
    ['Its allowlist', deployment ? (deployment.stale ? 'stale' : 'current') : 'not known'],
    ['Current allowlist', allowlist ? allowlist.join(', ') || 'empty' : 'not known'],
  ];
  if (seen.status) rows.splice(2, 0, ['The device said', `${seen.status} ${seen.code ?? ''}`]);
  return element(
    'details',
    { class: 'checked' },
    element('summary', {}, 'What was checked'),
    element(
      'dl',
      {},
      ...rows.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]),
    ),
  );
}

function count(number, noun) {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
