// A new key: what it may do is asked first; then the key is shown once, with the line that uses it.

import { useSignal } from '@preact/signals';

import { createKey } from '../../data/account';
import { findInstaller, installLine, supports, type Installer } from '../../data/install';
import { may } from '../../data/permission';
import { reader } from '../../data/system';
import type { Key } from '../../data/types';
import { text } from '../../text';
import { useAttempt } from '../../ui/busy';
import { Dialog, DialogForm } from '../../ui/dialog';
import { FormError } from '../../ui/form_error';
import { Lacking, SystemChoice, Unpublished } from '../../ui/install_lines';
import { keyOf, KeyFields } from '../../ui/key_fields';
import { useLost } from '../../ui/lost';
import { CopyBox, ShownOnce } from '../../ui/secret';

interface Made {
  info: Key;
  secret: string;
  /** `null` if the backend did not tell its lines. */
  installer: Installer | null;
}

export function CreateKeyDialog({ close }: { close: () => void }) {
  const made = useSignal<Made | null>(null);
  const { busy, fault, run } = useAttempt();
  // A key that exists, or is being made, stays in sight until somebody has copied it.
  useLost(may('keys:write') || busy.value || made.value !== null, close);
  const send = (values: FormData): void => {
    void run(async () => {
      const { key: secret, info } = await createKey(keyOf(values, String(values.get('name')).trim()));
      // The key exists from here on, so it is shown also if its lines cannot be made.
      made.value = { info, secret, installer: await findInstaller().catch(() => null) };
    });
  };
  return (
    <Dialog title={made.value ? text.keys.created : text.keys.create} close={close} wide>
      {made.value ? (
        <ShownOnce id="new-key" close={close}>
          <CopyBox value={made.value.secret} label={text.keys.theKey} />
          {made.value.installer ? <Lines installer={made.value.installer} kind={made.value.info.kind} secret={made.value.secret} /> : <p class="hint">{text.keys.noLines}</p>}
        </ShownOnce>
      ) : (
        <DialogForm close={close} action={text.keys.submit} ready={!busy.value} send={send}>
          <div class="field">
            <label for="key-name">{text.keys.name}</label>
            <input id="key-name" name="name" maxLength={100} autofocus autocomplete="off" spellcheck={false} aria-describedby="key-name-hint" />
            <p class="hint" id="key-name-hint">
              {text.keys.nameHint}
            </p>
          </div>
          <KeyFields />
          <FormError words={fault} />
        </DialogForm>
      )}
    </Dialog>
  );
}

/** The line that uses the key, for the reader's system first. */
function Lines({ installer, kind, secret }: { installer: Installer; kind: Key['kind']; secret: string }) {
  const system = useSignal(reader());
  return (
    <>
      <p class="hint">{text.keys.onDevice}</p>
      <SystemChoice system={system} />
      <Unpublished installer={installer} />
      <Lacking installer={installer} system={system.value} />
      {supports(installer, system.value) && (
        <CopyBox key={system.value} value={installLine(installer, kind, 'line', secret, system.value)} label={text.keys.theLine} primary={false} />
      )}
    </>
  );
}
