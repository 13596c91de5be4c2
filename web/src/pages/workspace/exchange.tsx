// A question and its answer, and what can be done with them.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { text } from '../../text';
import type { Turn } from '../../workspace/conversations';
import { readable } from '../../workspace/plain';
import { Answer } from './answer';
import { askAgain, running } from './asking';
import { remedy } from './failures';
import { target } from './state';

interface Props {
  turn: Turn;
  last: boolean;
  /** Called after each change of the answer that is under way. */
  grown: () => void;
  /** Called when the question begins and ends to be edited: it stays in the document meanwhile. */
  edited: (editing: boolean) => void;
}

export function Exchange({ turn, last, grown, edited }: Props) {
  const editing = useSignal(false);
  const edit = (on: boolean): void => {
    editing.value = on;
    edited(on);
  };
  const current = running.value?.turn === turn.id ? running.value : null;
  const free = running.value === null && !remedy.value.busy && target.value?.absent === null;
  return (
    <>
      <article class="turn asked" aria-label={text.workspace.you}>
        {editing.value ? (
          <Edit turn={turn} close={() => edit(false)} />
        ) : (
          <p class="text" dir="auto">
            {readable(turn.question)}
          </p>
        )}
        {!editing.value && free && (
          <div class="turn-actions">
            <button type="button" class="button quiet small" data-turn="edit" onClick={() => edit(true)}>
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
