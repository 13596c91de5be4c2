// The browser's own dialog: it holds the focus, closes on Escape, and gives the focus back.

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

import { text } from '../text';
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
    return () => {
      shown?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const cancelled = (event: Event): void => {
    event.preventDefault();
    close();
  };
  return (
    <dialog ref={dialog} class={wide ? 'dialog wide' : 'dialog'} aria-labelledby={id} onCancel={cancelled}>
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="icon-button" aria-label={text.dialog.close} onClick={close}>
          <Icon name="close" />
        </button>
      </div>
      {children}
    </dialog>
  );
}

/** A question before something that cannot be taken back. */
export function Confirm(props: {
  title: string;
  close: () => void;
  children: ComponentChildren;
  action: string;
  ready?: boolean;
  act: () => void;
}) {
  const sent = (event: Event): void => {
    event.preventDefault();
    if (props.ready !== false) props.act();
  };
  return (
    <Dialog title={props.title} close={props.close}>
      <form onSubmit={sent}>
        <div class="dialog-body">{props.children}</div>
        <div class="dialog-foot">
          <button type="button" class="button" onClick={props.close}>
            {text.dialog.cancel}
          </button>
          <button type="submit" class="button danger" disabled={props.ready === false}>
            {props.action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
