// A text that is copied, such as a command or a secret that is shown once. It stands in the document only while this part
// is shown.

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

import { text } from '../text';
import { Icon } from './icon';

/** Shows a text with a button that copies it. Where the browser refuses to copy, the text is selected instead. */
export function CopyBox({ value, label, id, primary = true }: { value: string; label: string; id?: string; primary?: boolean }) {
  const said = useSignal('');
  const box = useRef<HTMLPreElement>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value);
      said.value = text.admin.copied;
    } catch {
      if (box.current) getSelection()?.selectAllChildren(box.current);
      said.value = text.admin.selected;
    }
  };
  return (
    <div class="secret">
      <pre ref={box} id={id} tabIndex={0} role="group" aria-label={label} translate={false}>
        {value}
      </pre>
      <div class="secret-foot">
        <button type="button" class={primary ? 'button primary' : 'button'} onClick={() => void copy()}>
          <Icon name="copy" />
          {text.admin.copy(label)}
        </button>
        <span role="status">{said}</span>
      </div>
    </div>
  );
}

/** What a dialog shows of a secret that was made, this once. `then` says what to do with it. */
export function ShownOnce({ id, then, close, children }: { id: string; then?: string; close: () => void; children: ComponentChildren }) {
  return (
    <>
      <div class="dialog-body" id={id}>
        <p role="status">
          <strong>{text.admin.once}</strong> {then}
        </p>
        {children}
      </div>
      <div class="dialog-foot">
        <button type="button" class="button" onClick={close}>
          {text.admin.done}
        </button>
      </div>
    </>
  );
}
