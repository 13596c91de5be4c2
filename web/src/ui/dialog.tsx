// The browser's own dialog: it holds the focus, closes on Escape, and gives the focus back. The focus starts on the
// first field or on the harmless button, never on the close button or a destructive one.

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

import { text } from '../text';
import { visible } from '../text/visible';
import { Icon } from './icon';

interface Props {
  title: string;
  close: () => void;
  children: ComponentChildren;
  wide?: boolean;
}

export function Dialog({ title, close, children, wide = false }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement;
    shown?.showModal();
    if (shown) begin(shown);
    return () => {
      shown?.close();
      giveBack(before);
    };
  }, []);
  // What had the focus may have gone with the content that the dialog had before.
  useEffect(() => {
    if (dialog.current && !dialog.current.contains(document.activeElement)) begin(dialog.current);
  }, [title]);
  const cancelled = (event: Event): void => {
    event.preventDefault();
    close();
  };
  return (
    <dialog ref={dialog} class={wide ? 'dialog wide' : 'dialog'} aria-labelledby={id} onCancel={cancelled}>
      <div class="dialog-head">
        <h2 id={id}>{visible(title)}</h2>
        <button type="button" class="icon-button" aria-label={text.dialog.close} onClick={close}>
          <Icon name="close" />
        </button>
      </div>
      {children}
    </dialog>
  );
}

/** Puts the focus where a dialog begins, unless it is at something that asks for it. */
function begin(dialog: HTMLDialogElement): void {
  const wished = dialog.querySelector<HTMLElement>('[autofocus]');
  const field = dialog.querySelector<HTMLElement>(
    '.dialog-body :is(input:not([type=radio], [type=hidden], :disabled), input[type=radio]:checked, select:not(:disabled), textarea)',
  );
  const place = wished ?? field ?? dialog.querySelector<HTMLElement>('.dialog-body :is(button, a, pre[tabindex])') ?? dialog.querySelector<HTMLElement>('.dialog-foot button');
  place?.focus();
}

/** Returns the focus to what had it, or to the content of the page if that is gone. */
function giveBack(before: Element | null): void {
  if (before instanceof HTMLElement && before.isConnected) before.focus();
  // What opened the dialog may go with it, as the row of something that was removed.
  requestAnimationFrame(() => {
    if (document.activeElement === document.body || document.activeElement === null) document.getElementById('content')?.focus({ preventScroll: true });
  });
}

interface FormProps {
  close: () => void;
  children: ComponentChildren;
  /** The words of the button that sends the form. */
  action: string;
  tone?: 'primary' | 'danger';
  /** The words of the button that closes the dialog. */
  cancel?: string;
  /** Whether the form can be sent. */
  ready?: boolean;
  send: (values: FormData) => void;
}

/** The form that a dialog is for. Enter sends it as its button does. */
export function DialogForm({ close, children, action, tone = 'primary', cancel = text.dialog.cancel, ready = true, send }: FormProps) {
  const sent = (event: SubmitEvent): void => {
    event.preventDefault();
    if (ready) send(new FormData(event.currentTarget as HTMLFormElement));
  };
  return (
    <form onSubmit={sent}>
      <div class="dialog-body">{children}</div>
      <div class="dialog-foot">
        <button type="button" class="button" onClick={close}>
          {cancel}
        </button>
        <button type="submit" class={`button ${tone}`} disabled={!ready}>
          {action}
        </button>
      </div>
    </form>
  );
}

/** A question before something that cannot be taken back. */
export function Confirm(props: Omit<FormProps, 'tone' | 'cancel' | 'send'> & { title: string; act: () => void }) {
  return (
    <Dialog title={props.title} close={props.close}>
      <DialogForm {...props} tone="danger" send={props.act} />
    </Dialog>
  );
}
