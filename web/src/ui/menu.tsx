// A button that opens a small panel below it. The panel closes on Escape, on a press outside, and when what is in it is done.

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { Icon, type IconName } from './icon';

interface Props {
  label: string;
  icon: IconName;
  /** What the panel shows. It is drawn anew each time it opens. */
  body: (close: () => void) => ComponentChildren;
}

export function Menu({ label, icon, body }: Props) {
  const details = useRef<HTMLDetailsElement>(null);
  const open = useSignal(false);
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
  return (
    <details ref={details} class="menu" onToggle={() => (open.value = details.current?.open ?? false)} onKeyDown={pressed}>
      <summary class="button">
        <Icon name={icon} />
        {label}
      </summary>
      {open.value && <div class="menu-body">{body(close)}</div>}
    </details>
  );
}
