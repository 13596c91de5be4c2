// The conversation: questions, answers, why one did not come, and the field for the next question.

import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

import { text } from '../../text';
import type { Turn } from '../../workspace/conversations';
import { readable } from '../../workspace/plain';
import { Answer } from './answer';
import { askAgain, running, spoken } from './asking';
import { Composer } from './composer';
import { FailureCard } from './failure_card';
import { remedy } from './failures';
import { conversation, target } from './state';

import './chat.css';

/** How far from its end the log may be to follow an answer, in pixels. */
const NEAR = 60;

export function Chat() {
  const log = useRef<HTMLElement>(null);
  const { turns, id } = conversation.value;
  const follows = useRef(true);
  const toEnd = (): void => {
    if (log.current && follows.current) log.current.scrollTop = log.current.scrollHeight;
  };
  useEffect(() => {
    follows.current = true;
    toEnd();
  }, [id, turns.length]);
  useLayoutEffect(toEnd);
  const scrolled = (): void => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = log.current ?? {};
    follows.current = scrollHeight - scrollTop - clientHeight < NEAR;
  };
  return (
    <>
      <section ref={log} id="log" class="log" aria-label={text.workspace.log} tabIndex={0} onScroll={scrolled}>
        {turns.length === 0 && (
          <div class="welcome">
            <h2>{text.workspace.askTitle}</h2>
            <p class="soft">{text.workspace.ask}</p>
          </div>
        )}
        {turns.map((turn, index) => (
          <Exchange key={turn.id} turn={turn} last={index === turns.length - 1} grown={toEnd} />
        ))}
        <FailureCard />
      </section>
      <p class="visually-hidden" role="status" aria-live="polite">
        {spoken}
      </p>
      <Composer />
    </>
  );
}

function Exchange({ turn, last, grown }: { turn: Turn; last: boolean; grown: () => void }) {
  const editing = useSignal(false);
  const current = running.value?.turn === turn.id ? running.value : null;
  const free = running.value === null && !remedy.value.busy && target.value?.absent === null;
  return (
    <>
      <article class="turn asked" aria-label={text.workspace.you}>
        {editing.value ? (
          <Edit turn={turn} close={() => (editing.value = false)} />
        ) : (
          <p class="text" dir="auto">
            {readable(turn.question)}
          </p>
        )}
        {!editing.value && free && (
          <div class="turn-actions">
            <button type="button" class="button quiet small" data-turn="edit" onClick={() => (editing.value = true)}>
              {text.workspace.edit}
            </button>
          </div>
        )}
      </article>
      {(current !== null || turn.answer !== '' || turn.state === 'stopped') && (
        <Answer turn={turn} running={current} grown={grown}>
          {last && free && (
            <button
              type="button"
              class="button quiet small"
              data-turn="regenerate"
              onClick={() => askAgain(turn.id, turn.question)}
            >
              {text.workspace.regenerate}
            </button>
          )}
        </Answer>
      )}
    </>
  );
}

function Edit({ turn, close }: { turn: Turn; close: () => void }) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const sent = (event: Event): void => {
    event.preventDefault();
    const words = field.current?.value.trim() ?? '';
    if (words === '') return;
    close();
    askAgain(turn.id, words);
  };
  return (
    <form class="edit" onSubmit={sent}>
      <textarea
        ref={field}
        rows={4}
        dir="auto"
        aria-label={text.workspace.editLabel}
        defaultValue={turn.question}
        onKeyDown={(event) => event.key === 'Escape' && close()}
      />
      <div class="turn-actions">
        <button type="button" class="button" onClick={close}>
          {text.dialog.cancel}
        </button>
        <button type="submit" class="button primary">
          {text.workspace.resend}
        </button>
      </div>
    </form>
  );
}
