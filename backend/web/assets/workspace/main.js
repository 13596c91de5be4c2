// The workspace: choose a served model, ask it, read its answer as it comes straight from the
// device, and learn the true cause when it does not.

import * as api from '../shared/api.js';
import { badge, button, element, replace } from '../shared/dom.js';
import { modelName } from '../shared/format.js';
import { open } from '../shared/page.js';
import { classify } from './causes.js';
import { ChatFailure, complete } from './chat.js';
import { gather } from './facts.js';
import { carryOut } from './remedy.js';
import { answer, failure, question, usageLine } from './view.js';

/** The time between two looks at what is served, in milliseconds. */
const INTERVAL = 3_000;

open(async (root) => {
  const page = layout();
  /** What the model is told: every question and answer that counts. */
  let conversation = [];
  let targets = [];
  let running = null;

  async function refresh() {
    targets = await servedTargets();
    showTargets(page, targets);
    page.send.disabled = targets.length === 0 || running !== null;
  }

  function target() {
    return targets.find((item) => item.id === page.model.value);
  }

  async function ask(chosen) {
    const reply = answer(chosen.name);
    const began = performance.now();
    const messages = conversation;
    let text = '';
    const write = byFrame((pieces) => keepEnd(page.log, () => reply.add(pieces)));
    running = new AbortController();
    show(reply.card);
    working(true);
    try {
      const usage = await complete({
        port: chosen.port,
        model: chosen.alias,
        messages,
        signal: running.signal,
        text: (piece) => {
          text += piece;
          write.add(piece);
        },
        thought: () => reply.think(),
      });
      write.flush();
      messages.push({ role: 'assistant', content: text });
      reply.finish(usageLine(usage, (performance.now() - began) / 1000));
      page.status.textContent = 'The answer is complete.';
    } catch (error) {
      if (!(error instanceof ChatFailure)) throw error;
      write.flush();
      if (error.seen.kind === 'stopped') {
        messages.push({ role: 'assistant', content: text });
        reply.finish('Stopped.');
        return;
      }
      if (text === '') reply.card.remove();
      else reply.finish('This answer is not complete.');
      await explainFailure(chosen, error.seen);
    } finally {
      running = null;
      working(false);
    }
  }

  async function explainFailure(chosen, seen) {
    page.status.textContent = 'Finding out what went wrong…';
    const facts = await gather(chosen, seen);
    const cause = classify(facts);
    const card = failure(cause, facts, async (action, said) => {
      await carryOut(action, chosen, said);
      await refresh();
      const now = targets.find((item) => item.id === chosen.id) ?? chosen;
      card.remove();
      await ask(now);
    });
    show(card);
    page.status.textContent = '';
  }

  function working(busy) {
    page.send.hidden = busy;
    page.stop.hidden = !busy;
    page.send.disabled = busy || targets.length === 0;
    page.model.disabled = busy;
    if (busy) page.status.textContent = '';
    page.message.focus();
  }

  function show(card) {
    page.empty.hidden = true;
    page.log.append(card);
    card.scrollIntoView({ block: 'nearest' });
  }

  page.form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = page.message.value.trim();
    const chosen = target();
    if (text === '' || !chosen || running) return;
    page.message.value = '';
    // A question that failed is asked again only by its own button.
    if (conversation.at(-1)?.role === 'user') conversation.pop();
    for (const old of page.log.querySelectorAll('.cause')) old.remove();
    conversation.push({ role: 'user', content: text });
    show(question(text));
    ask(chosen);
  });
  page.message.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      page.form.requestSubmit();
    }
  });
  page.stop.addEventListener('click', () => running?.abort());
  page.fresh.addEventListener('click', () => {
    running?.abort();
    conversation = [];
    page.log.replaceChildren(page.empty);
    page.empty.hidden = false;
    page.message.focus();
  });
  page.model.addEventListener('change', () => showTargets(page, targets));

  await refresh();
  root.append(page.bar, page.log, page.form);
  page.message.focus();
  for (;;) {
    await api.pause(INTERVAL);
    if (document.visibilityState === 'visible' && !running) await refresh().catch(() => {});
  }
});

/** Every deployment that is served, with all that is needed to ask it. */
async function servedTargets() {
  const [deployments, devices, models] = await Promise.all([
    api.deployments(),
    api.devices(),
    api.models(),
  ]);
  return deployments
    .filter((item) => item.serving?.is_serving)
    .map((item) => ({
      id: `${item.model_id} ${item.device_id}`,
      modelId: item.model_id,
      deviceId: item.device_id,
      alias: item.alias,
      port: item.serving.port,
      stale: item.stale,
      name: nameOf(models.find((model) => model.model_id === item.model_id)) ?? item.alias,
      device: devices.find((device) => device.device_id === item.device_id)?.name ?? item.device_id,
    }));
}

function nameOf(model) {
  return model && modelName(model);
}

function showTargets(page, targets) {
  const state = JSON.stringify([targets, page.model.value]);
  if (page.model.dataset.state === state) return;
  const chosen = page.model.value;
  const options = targets.map((item) =>
    element('option', { value: item.id }, `${item.name} on ${item.device}, port ${item.port}`),
  );
  if (options.length === 0) options.push(element('option', { value: '' }, 'No model is being served'));
  page.model.replaceChildren(...options);
  if (targets.some((item) => item.id === chosen)) page.model.value = chosen;
  const stale = targets.find((item) => item.id === page.model.value)?.stale;
  replace(page.note, stale ? badge('Stale allowlist', 'warn', 'It lacks an origin of the current allowlist.') : []);
  page.empty.replaceChildren(...emptyWords(targets.length > 0));
  page.model.dataset.state = JSON.stringify([targets, page.model.value]);
}

function emptyWords(served) {
  if (served) {
    return [
      element('h2', {}, 'Ask the model something'),
      element('p', {}, 'The answer comes straight from the device; the backend does not see it.'),
    ];
  }
  return [
    element('h2', {}, 'No model is being served'),
    element('p', {}, 'Serve one on the ', element('a', { href: '/' }, 'dashboard'), '; it then appears here.'),
  ];
}

function layout() {
  const model = element('select', { id: 'model' });
  const note = element('span', { class: 'note' });
  const fresh = button('New conversation', { class: 'quiet', id: 'fresh' });
  const empty = element('div', { class: 'welcome' });
  const message = element('textarea', {
    id: 'message',
    rows: '2',
    required: true,
    placeholder: 'Type a message',
    'aria-describedby': 'message-hint',
  });
  const send = element('button', { type: 'submit', class: 'primary', id: 'send' }, 'Send');
  const stop = button('Stop', { id: 'stop', hidden: true });
  const status = element('p', { class: 'hint', role: 'status', id: 'status' });
  return {
    model,
    note,
    fresh,
    empty,
    message,
    send,
    stop,
    status,
    bar: element('div', { class: 'bar' }, element('label', { for: 'model' }, 'Model'), model, note, fresh),
    log: element('section', { class: 'log', id: 'log', 'aria-label': 'Conversation', tabindex: '0' }, empty),
    form: element(
      'form',
      { class: 'composer' },
      element('label', { for: 'message', class: 'hidden' }, 'Message'),
      element('div', { class: 'composer-row' }, message, send, stop),
      element(
        'div',
        { class: 'composer-foot' },
        element('p', { class: 'hint', id: 'message-hint' }, 'Enter sends, Shift+Enter starts a new line.'),
        status,
      ),
    ),
  };
}

/** Changes what a scrolling element holds, and keeps its end in view if it was. */
function keepEnd(scroller, change) {
  const atEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 40;
  change();
  if (atEnd) scroller.scrollTop = scroller.scrollHeight;
}

/** Hands pieces over once per frame, however fast they come, so that the page stays quick. */
function byFrame(hand) {
  let waiting = '';
  let frame = null;
  const flush = () => {
    cancelAnimationFrame(frame);
    frame = null;
    if (waiting !== '') hand(waiting);
    waiting = '';
  };
  const add = (piece) => {
    waiting += piece;
    frame ??= requestAnimationFrame(flush);
  };
  return { add, flush };
}
