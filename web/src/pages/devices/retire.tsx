// Retires a device that was uninstalled while the backend was away: the code that its uninstall printed is the proof.

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';

import { ask, POST } from '../../data/client';
import { text } from '../../text';
import { useAsked } from '../../ui/asked';
import { useAttempt } from '../../ui/busy';
import { Dialog, DialogForm } from '../../ui/dialog';
import { FormError } from '../../ui/form_error';
import { Icon } from '../../ui/icon';
import { notice } from '../../ui/notices';
import { Prose } from '../../ui/prose';

export function RetireButton() {
  const open = useSignal(false);
  useAsked('retire', () => (open.value = true));
  return (
    <>
      <button type="button" class="button collapsing" data-action="retire" aria-label={text.retire.open} title={text.retire.open} onClick={() => (open.value = true)}>
        <Icon name="key" />
        <span class="label">{text.retire.open}</span>
        <span class="short">{text.retire.short}</span>
      </button>
      {open.value && <RetireDialog close={() => (open.value = false)} />}
    </>
  );
}

function RetireDialog({ close }: { close: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  const { busy, fault, run } = useAttempt();
  const send = async (values: FormData): Promise<void> => {
    const code = String(values.get('code'));
    const done = await run(async () => {
      await ask(POST('/api/v1/devices/retire', { body: { retire_code: code } }));
    });
    if (!done) {
      field.current?.focus();
      return;
    }
    notice(text.retire.done);
    close();
  };
  return (
    <Dialog title={text.retire.title} close={close}>
      <DialogForm close={close} action={text.retire.run} tone="danger" ready={!busy.value} send={(values) => void send(values)}>
        <p>{text.retire.why}</p>
        <div class="field">
          <label for="retire-code">{text.retire.code}</label>
          <input ref={field} id="retire-code" name="code" required autofocus autocomplete="off" spellcheck={false} aria-describedby="retire-code-hint" />
          <p class="hint" id="retire-code-hint">
            <Prose words={text.retire.hint} />
          </p>
        </div>
        <FormError words={fault} />
      </DialogForm>
    </Dialog>
  );
}
