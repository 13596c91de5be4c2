// A button that opens a small panel below it. The panel closes on Escape, on a press outside, when the focus goes elsewhere, and
// when what is in it is done.

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

import { Icon, type IconName } from './icon';

interface Props {
  label: string;
  icon: IconName;
  /** What a screen reader calls the button, if the label alone would not tell it apart. It contains the label. */
  named?: string;
  /** Whether the panel ends where its button ends, as in a row whose buttons are at its end. */
  atEnd?: boolean;
  /** What the panel shows. It is drawn anew each time it opens. */
  body: (close: () => void) => ComponentChildren;
}

export function Menu({ label, icon, named, atEnd = false, body }: Props) {
  const details = useRef<HTMLDetailsElement>(null);
  const open = useSignal(false);
  /** Whether a panel that ends where its button ends would begin left of the screen: it begins where its button begins. */
  const turned = useSignal(false);
  useLayoutEffect(() => {
    const panel = open.value ? details.current?.querySelector('.menu-body') : null;
    turned.value = panel ? panel.getBoundingClientRect().left < 0 : false;
  }, [open.value]);
  useEffect(() => {
    if (open.value) details.current?.querySelector('.menu-body')?.scrollIntoView?.({ block: 'nearest' });
  }, [open.value]);
  useEffect(() => {
    const outside = (event: Event): void => {
      const shown = details.current;
      if (shown?.open && event.target instanceof Node && !shown.contains(event.target)) shown.open = false;
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, []);
  const close = (): void => {
    if (details.current) details.current.open = false;
    details.current?.querySelector('summary')?.focus();
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && open.value) close();
  };
  const left = ({ relatedTarget: next }: FocusEvent): void => {
    if (next instanceof Node && details.current && !details.current.contains(next)) details.current.open = false;
  };
  return (
    <details
      ref={details}
      class={['menu', atEnd && 'at-end', atEnd && turned.value && 'turned'].filter(Boolean).join(' ')}
      onToggle={() => (open.value = details.current?.open ?? false)}
      onKeyDown={pressed}
      onFocusOut={left}
    >
      <summary class="button" aria-label={named}>
        <Icon name={icon} />
        {label}
      </summary>
      {open.value && <div class="menu-body">{body(close)}</div>}
    </details>
  );
}
