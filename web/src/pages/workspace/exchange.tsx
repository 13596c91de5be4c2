// A question and its answer, and what can be done with them.

import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

import { text } from '../../text';
import type { Turn } from '../../workspace/conversations';
import { readable } from '../../workspace/plain';
import { Answer } from './answer';
import { askAgain, running } from './asking';
import { remedy } from './failures';
import { edited } from './keeping';
import { target } from './state';

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
  useEffect(() => field.current?.focus(), []);
  useLayoutEffect(() => {
    edited.add(turn.id);
    return () => edited.delete(turn.id);
  }, [turn.id]);
  const sent = (event: Event): void => {
    event.preventDefault();
    const words = field.current?.value.trim() ?? '';
    if (words !== '' && askAgain(turn.id, words)) close();
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
