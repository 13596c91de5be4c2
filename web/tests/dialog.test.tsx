// Where a dialog begins, what Escape does, and where the focus is afterwards. `pictures/keyboard.ts` tries every dialog of the
// pages in a browser.

import { signal } from '@preact/signals';
import { describe, expect, it, vi } from 'vitest';

import { Confirm, Dialog, DialogForm } from '../src/ui/dialog';
import { FormError } from '../src/ui/form_error';
import { accessible, place, press, settled } from './placed';

const here = place();
const open = signal(false);
const title = signal('First');

function show(dialog: () => preact.ComponentChild): void {
  open.value = false;
  title.value = 'First';
  const Page = () => (
    <main id="content" tabIndex={-1}>
      <button type="button" id="opener" onClick={() => (open.value = true)}>
        Open
      </button>
      {open.value && dialog()}
    </main>
  );
  here.show(<Page />);
  document.getElementById('opener')?.focus();
}

const close = (): void => void (open.value = false);
const at = async (selector: string): Promise<void> => {
  await vi.waitFor(() => expect(document.activeElement).toBe(document.querySelector(selector)));
  expect(document.activeElement).not.toBeNull();
};
const escape = (): void => void document.querySelector('dialog')?.dispatchEvent(new Event('cancel', { cancelable: true }));

describe('a dialog', () => {
  it('begins at its first field, and gives the focus back on Escape', async () => {
    show(() => (
      <Dialog title="Name" close={close}>
        <div class="dialog-body">
          <label>
            <input type="radio" name="one" /> One
          </label>
          <label>
            Name <input id="name" />
          </label>
        </div>
      </Dialog>
    ));
    await press('Open');
    await at('#name');
    await accessible();
    escape();
    await at('#opener');
    expect(document.querySelector('dialog')).toBeNull();
  });

  it('begins where it asks for, and at the chosen one of several', async () => {
    show(() => (
      <Dialog title="Kind" close={close}>
        <div class="dialog-body">
          <label>
            <input type="radio" name="one" /> One
          </label>
          <label>
            <input type="radio" name="one" id="chosen" checked /> Two
          </label>
        </div>
      </Dialog>
    ));
    await press('Open');
    await at('#chosen');
    show(() => (
      <Dialog title="Kind" close={close}>
        <div class="dialog-body">
          <input aria-label="One" />
          <input aria-label="Two" id="wished" autofocus />
        </div>
      </Dialog>
    ));
    await press('Open');
    await at('#wished');
  });

  it('that asks before a loss begins at the button that changes nothing', async () => {
    show(() => (
      <Confirm title="Remove" action="Remove it" close={close} act={close}>
        <p>What is lost.</p>
      </Confirm>
    ));
    await press('Open');
    await at('.dialog-foot button:not(.danger)');
    await press('Cancel');
    await at('#opener');
  });

  it('whose content is replaced has the focus in the new content', async () => {
    show(() => (
      <Dialog title={title.value} close={close}>
        <div class="dialog-body">
          {title.value === 'First' ? <input id="first" key="first" aria-label="First" /> : <pre key="then" id="then" tabIndex={0} role="group" aria-label="Key">secret</pre>}
        </div>
      </Dialog>
    ));
    await press('Open');
    await at('#first');
    title.value = 'Then';
    await settled('secret');
    await at('#then');
  });

  it('whose opener is gone gives the focus to the content of the page', async () => {
    show(() => (
      <Dialog title="Gone" close={close}>
        <div class="dialog-body">
          <input aria-label="Name" id="name" />
        </div>
      </Dialog>
    ));
    await press('Open');
    await at('#name');
    document.getElementById('opener')?.remove();
    escape();
    await at('#content');
  });

  it('brings why it was refused into sight, each time', async () => {
    const seen: string[] = [];
    const scroll = vi.fn(function (this: Element) {
      seen.push(this.textContent ?? '');
    });
    Object.assign(HTMLElement.prototype, { scrollIntoView: scroll });
    const fault = signal('');
    show(() => (
      <Dialog title="Name" close={close}>
        <DialogForm close={close} action="Save" send={() => (fault.value = 'The name is taken.')}>
          <FormError words={fault} />
        </DialogForm>
      </Dialog>
    ));
    await press('Open');
    await press('Save');
    await vi.waitFor(() => expect(seen).toEqual(['The name is taken.']));
    fault.value = '';
    await vi.waitFor(() => expect(document.querySelector('.form-error')?.textContent).toBe(''));
    await press('Save');
    await vi.waitFor(() => expect(seen).toHaveLength(2));
    expect(scroll).toHaveBeenLastCalledWith({ block: 'nearest' });
    Reflect.deleteProperty(HTMLElement.prototype, 'scrollIntoView');
  });
});
