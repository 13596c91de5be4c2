// The buttons of a row, and what takes their place while one of them works. What is around them stays: the focus goes to it from a
// button that is gone, and a screen reader says words that appear in what is already there.

import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

import './action_group.css';

interface Props {
  /** What the buttons are for. */
  label: string;
  /** What is being done, or `''`. */
  doing: string;
  /** Whether there is nothing to do now. */
  idle: boolean;
  /** The buttons. */
  children: ComponentChildren;
}

export function ActionGroup({ label, doing, idle, children }: Props) {
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
  if (idle && !used.current) return null;
  return (
    <div ref={group} class="action-group" role="group" aria-label={label} tabIndex={-1}>
      <p class="soft" role="status">
        {doing}
      </p>
      {doing === '' && children}
    </div>
  );
}
