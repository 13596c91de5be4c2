// A question and its answer, and what can be done with them.

import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

import { text } from '../../text';
import type { Turn } from '../../workspace/conversations';
import { readable } from '../../workspace/plain';
import { Answer } from './answer';
import { askAgain, running } from './asking';
import { remedy } from './failures';
import { edited, isDeleted } from './keeping';
import { conversation, draft, target, write } from './state';

interface Props {
  turn: Turn;
  last: boolean;
  /** Called after each change of the answer that is under way. */
  grown: () => void;
}

export function Exchange({ turn, last, grown }: Props) {
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
  /** What was typed, and is neither sent nor given up. */
  const typed = useRef<string | null>(null);
  useEffect(() => field.current?.focus(), []);
  useLayoutEffect(() => {
    const { id } = conversation.peek();
    edited.add(turn.id);
    return () => {
      // Another tab has deleted the conversation. A deletion in this one, and another person, have ended the edit before.
      if (!edited.delete(turn.id) || typed.current === null || !isDeleted(id)) return;
      write([draft.peek(), typed.current].filter(Boolean).join('\n\n'));
    };
  }, [turn.id]);
  const end = (): void => {
    typed.current = null;
    close();
  };
  const sent = (event: Event): void => {
    event.preventDefault();
    const words = field.current?.value.trim() ?? '';
    if (words !== '' && askAgain(turn.id, words)) end();
  };
  return (
    <form class="edit" onSubmit={sent}>
      <textarea
        ref={field}
        rows={4}
        dir="auto"
        aria-label={text.workspace.editLabel}
        defaultValue={turn.question}
        onInput={({ currentTarget: { value } }) => (typed.current = value.trim() === turn.question.trim() ? null : value)}
        onKeyDown={(event) => event.key === 'Escape' && end()}
      />
      <div class="turn-actions">
        <button type="button" class="button" onClick={end}>
          {text.dialog.cancel}
        </button>
        <button type="submit" class="button primary">
          {text.workspace.resend}
        </button>
      </div>
    </form>
  );
}
