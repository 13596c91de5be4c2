// The field in which a question is typed. Its text survives a reload of the tab, if the browser keeps it.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { text } from '../../text';
import { ask, running, stop } from './asking';
import { doing, remedy } from './failures';
import { draft, draftKept, target, write } from './state';

import './composer.css';

export function Composer() {
  const field = useRef<HTMLTextAreaElement>(null);
  const busy = running.value !== null;
  const absent = target.value?.absent ?? null;
  const blocked = target.value?.absent !== null || remedy.value.busy;
  // Somebody tried to send what cannot be sent yet.
  const tried = useSignal(false);
  useEffect(() => {
    tried.value = false;
  }, [absent]);
  useEffect(() => {
    if (!busy) field.current?.focus({ preventScroll: true });
  }, [busy]);
  useEffect(() => {
    const grown = field.current;
    if (!grown) return;
    grown.style.height = 'auto';
    grown.style.height = `${grown.scrollHeight + 2}px`;
  }, [draft.value]);
  const sent = (event: Event): void => {
    event.preventDefault();
    const words = draft.peek().trim();
    if (words !== '' && absent !== null) tried.value = true;
    if (words === '' || busy || blocked) return;
    write('');
    ask(words);
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    sent(event);
  };
  return (
    <form class="composer" onSubmit={sent}>
      <label for="message" class="visually-hidden">
        {text.workspace.message}
      </label>
      <div class="composer-row">
        <textarea
          ref={field}
          id="message"
          data-kept={draftKept.value ? '' : undefined}
          rows={2}
          dir="auto"
          placeholder={text.workspace.placeholder}
          aria-describedby="message-hint"
          value={draft}
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={pressed}
        />
        {busy ? (
          <button type="button" id="stop" class="button" onClick={stop}>
            {text.workspace.stop}
          </button>
        ) : (
          <button type="submit" id="send" class="button primary" aria-disabled={blocked}>
            {text.workspace.send}
          </button>
        )}
      </div>
      <div class="composer-foot small soft">
        <p id="message-hint">{text.workspace.hint}</p>
        <p id="status" role="status">
          {tried.value && absent !== null ? text.workspace.notSent(text.workspace.absent[absent]) : doing}
        </p>
      </div>
    </form>
  );
}
