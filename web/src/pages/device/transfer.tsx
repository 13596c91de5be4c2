// The transfer of a device to another account, whose consent is a key of its own.

import { useSignal } from '@preact/signals';

import { transferDevice } from '../../data/actions';
import { noteRefusal } from '../../data/permission';
import type { Device } from '../../data/types';
import { text } from '../../text';
import { sentence } from '../../text/visible';
import { Field } from '../../ui/choice';
import { Dialog } from '../../ui/dialog';
import { FormError } from '../../ui/form_error';
import { notice } from '../../ui/notices';
import { go } from '../../ui/router';

export function TransferDevice({ device }: { device: Device }) {
  const open = useSignal(false);
  return (
    <section class="card danger-zone">
      <h2>{text.transfer.title}</h2>
      <p>{text.transfer.body}</p>
      <button type="button" class="button" onClick={() => (open.value = true)}>
        {text.transfer.open}
      </button>
      {open.value && <TransferDialog device={device} close={() => (open.value = false)} />}
    </section>
  );
}

function TransferDialog({ device, close }: { device: Device; close: () => void }) {
  const busy = useSignal(false);
  const fault = useSignal('');
  const sent = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget as HTMLFormElement).get('key')).trim();
    busy.value = true;
    fault.value = '';
    try {
      if (await transferDevice(device.device_id, key)) {
        notice(text.transfer.done(device.name));
        go('/devices');
        return;
      }
      fault.value = text.transfer.noKey;
    } catch (error) {
      noteRefusal(error);
      fault.value = error instanceof Error ? sentence(error.message) : text.problems.unknown;
    }
    busy.value = false;
  };
  return (
    <Dialog title={text.transfer.title} close={close}>
      <form onSubmit={(event) => void sent(event)}>
        <div class="dialog-body">
          <p dir="auto">{text.transfer.lost(device.name)}</p>
          <Field
            label={text.transfer.key}
            hint={text.transfer.keyHint}
            control={(ties) => <input {...ties} name="key" type="password" required autocomplete="off" spellcheck={false} />}
          />
          <FormError words={fault} />
        </div>
        <div class="dialog-foot">
          <button type="button" class="button" onClick={close}>
            {text.dialog.cancel}
          </button>
          <button type="submit" class="button danger" disabled={busy}>
            {text.transfer.confirm}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
