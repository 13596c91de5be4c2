// A button that saves what a list shows as a file. While the file would lack rows there is none, and the button says why.

import { useId } from 'preact/hooks';

import type { Loading } from '../data/store';
import { text } from '../text';
import { Icon } from './icon';
import { notice } from './notices';

interface Props {
  /** How many rows the file would have. */
  count: number;
  /** What the file is made of. */
  lists: readonly Loading[];
  save: () => void;
}

/** The button can be reached while it saves nothing: one that is disabled could not say its reason to a keyboard. */
export function ExportButton({ count, lists, save }: Props) {
  const id = useId();
  const reason = reasonAgainst(count, lists);
  return (
    <>
      <button
        type="button"
        class="button collapsing"
        aria-label={text.list.csv}
        aria-disabled={reason === null ? undefined : 'true'}
        aria-describedby={reason === null ? undefined : id}
        title={reason ?? undefined}
        onClick={() => (reason === null ? save() : notice(reason))}
      >
        <Icon name="download" />
        <span class="label">{text.list.csv}</span>
      </button>
      {reason !== null && (
        <span id={id} class="visually-hidden">
          {reason}
        </span>
      )}
    </>
  );
}

function reasonAgainst(count: number, lists: readonly Loading[]): string | null {
  if (lists.some(({ state }) => state === 'failed')) return text.list.csvFailed;
  if (lists.some(({ state }) => state === 'idle' || state === 'loading')) return text.list.csvLoading;
  return count === 0 ? text.list.csvEmpty : null;
}
