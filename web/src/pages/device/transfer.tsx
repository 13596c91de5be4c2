// The transfer of a device to another account, whose consent is a key of its own.

import { useSignal } from '@preact/signals';

import { transferDevice } from '../../data/actions';
import type { Device } from '../../data/types';
import { text } from '../../text';
import { useAttempt } from '../../ui/busy';
import { Field } from '../../ui/choice';
import { Dialog, DialogForm } from '../../ui/dialog';
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
  const { busy, fault, run } = useAttempt();
  const transfer = async (key: string): Promise<void> => {
    if (!(await transferDevice(device.device_id, key))) throw new Error(text.transfer.noKey);
    notice(text.transfer.done(device.name));
    go('/devices');
  };
  return (
    <Dialog title={text.transfer.title} close={close}>
      <DialogForm close={close} action={text.transfer.confirm} tone="danger" ready={!busy.value} send={(values) => void run(() => transfer(String(values.get('key')).trim()))}>
        <p dir="auto">{text.transfer.lost(device.name)}</p>
        <Field
          label={text.transfer.key}
          hint={text.transfer.keyHint}
          control={(ties) => <input {...ties} name="key" type="password" required autocomplete="off" spellcheck={false} />}
        />
        <FormError words={fault} />
      </DialogForm>
    </Dialog>
  );
}
