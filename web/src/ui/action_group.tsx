// The buttons of a row, and what takes their place while one of them works. What is around them stays: the focus goes to it from a
// button that is gone, and a screen reader says words that appear in what is already there. If another row takes the place of the
// row, the focus goes to the buttons there.

import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

import './action_group.css';

interface Props {
  /** What the buttons are for. */
  label: string;
  /** The id of what the buttons act on, in every row that stands for it. */
  of?: string;
  /** What is being done, or `''`. */
  doing: string;
  /** Whether there is nothing to do now. */
  idle: boolean;
  /** The buttons. */
  children: ComponentChildren;
}

/** How long a row that takes the place of another one gets its focus, in milliseconds. A list draws its rows a moment after they change. */
const HANDOVER = 1_000;

/** What the group acted on that went away with the focus. */
let left: string | null = null;

/** Returns what the next group must act on to get the focus: its last group went out of the document with it. */
export function awaited(): string | null {
  return left;
}

export function ActionGroup({ label, of, doing, idle, children }: Props) {
  const group = useRef<HTMLDivElement>(null);
  const before = useRef(doing);
  /** Whether something was done here: then the focus may be here too, also when there is nothing more to do. */
  const used = useRef(false);
  if (doing !== '') used.current = true;
  useLayoutEffect(() => {
    const began = before.current === '' && doing !== '';
    before.current = doing;
    // The button that had the focus has just gone.
    if (began && (document.activeElement === document.body || document.activeElement === null)) group.current?.focus({ preventScroll: true });
  }, [doing]);
  useLayoutEffect(() => {
    if (of === undefined) return undefined;
    if (left === of) take(group.current);
    return () => leave(group.current, of);
  }, [of]);
  if (idle && !used.current) return null;
  return (
    <div ref={group} class="action-group" role="group" aria-label={label} tabIndex={-1} data-of={of}>
      <p class="soft" role="status">
        {doing}
      </p>
      {doing === '' && children}
    </div>
  );
}

/** Takes the focus, unless a person has moved it since: it is at what is around the rows, or nowhere. The list scrolls to the row, and
 * goes on with that while the rows around it are measured. */
function take(group: HTMLElement | null): void {
  left = null;
  if (group && document.activeElement?.contains(group)) group.focus({ preventScroll: true });
}

/** Gives the focus of a group that goes away to the other group of the same thing: to that which is there, or to that which comes. */
function leave(group: HTMLElement | null, of: string): void {
  if (!group?.contains(document.activeElement)) return;
  const other = [...document.querySelectorAll<HTMLElement>('.action-group')].find((one) => one !== group && one.dataset['of'] === of);
  if (other) {
    other.focus({ preventScroll: true });
    return;
  }
  left = of;
  setTimeout(() => (left = null), HANDOVER);
}
