// A new key: what it may do is asked first; then the key is shown once, with the line that uses it.

import { useSignal } from '@preact/signals';

import { createKey } from '../../data/account';
import { findInstaller, installLine } from '../../data/install';
import type { Key } from '../../data/types';
import { text } from '../../text';
import { useAttempt } from '../../ui/busy';
import { Dialog } from '../../ui/dialog';
import { keyOf, KeyFields } from '../../ui/key_fields';
import { CopyBox } from '../../ui/secret';

interface Made {
  info: Key;
  secret: string;
  line: string | null;
}

export function CreateKeyDialog({ close }: { close: () => void }) {
  const made = useSignal<Made | null>(null);
  const { busy, fault, run } = useAttempt();
  const sent = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const name = String(new FormData(form).get('name')).trim();
    void run(async () => {
      const { key: secret, info } = await createKey(keyOf(form, name));
      // The key exists from here on, so it is shown also if its line cannot be made.
      const installer = await findInstaller().catch(() => null);
      made.value = { info, secret, line: installer && installLine(installer, info.kind, 'line', secret) };
    });
  };
  if (made.value) {
    const { secret, line } = made.value;
    return (
      <Dialog title={text.keys.created} close={close} wide>
        <div class="dialog-body" id="new-key">
          <p role="status">
            <strong>{text.admin.once}</strong>
          </p>
          <CopyBox value={secret} label={text.keys.theKey} />
          {line !== null && (
            <>
              <p class="hint">{text.keys.onDevice}</p>
              <CopyBox value={line} label={text.keys.theLine} primary={false} />
            </>
          )}
        </div>
        <div class="dialog-foot">
          <button type="button" class="button" onClick={close}>
            {text.admin.done}
          </button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={text.keys.create} close={close} wide>
      <form onSubmit={sent}>
        <div class="dialog-body">
          <div class="field">
            <label for="key-name">{text.keys.name}</label>
            <input id="key-name" name="name" maxLength={100} autofocus autocomplete="off" spellcheck={false} aria-describedby="key-name-hint" />
            <p class="hint" id="key-name-hint">
              {text.keys.nameHint}
            </p>
          </div>
          <KeyFields />
          <p class="form-error" role="alert">
            {fault}
          </p>
        </div>
        <div class="dialog-foot">
          <button type="button" class="button" onClick={close}>
            {text.keys.cancel}
          </button>
          <button type="submit" class="button primary" disabled={busy}>
            {text.keys.submit}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
