// Updating the agent of one device.

import { useComputed, useSignal } from '@preact/signals';

import { updateDevice } from '../../data/actions';
import { may } from '../../data/permission';
import type { Device } from '../../data/types';
import { text } from '../../text';
import { useAttempt } from '../../ui/busy';
import { Dialog, DialogForm } from '../../ui/dialog';
import { FormError } from '../../ui/form_error';
import { useLost } from '../../ui/lost';
import { notice } from '../../ui/notices';
import { VersionField } from '../../ui/version_field';

export function UpdateButton({ device }: { device: Device }) {
  const open = useSignal(false);
  return (
    <>
      {may('devices:operate') && (
        <button type="button" class="button" data-action="update" onClick={() => (open.value = true)}>
          {text.device.update}
        </button>
      )}
      {open.value && <UpdateDialog device={device} close={() => (open.value = false)} />}
    </>
  );
}

function UpdateDialog({ device, close }: { device: Device; close: () => void }) {
  useLost(may('devices:operate'), close);
  const { busy, fault, run } = useAttempt();
  const version = useSignal('');
  const differs = useComputed(() => !['', device.agent_version].includes(version.value.trim()));
  const update = async (): Promise<void> => {
    const wanted = version.peek().trim();
    await updateDevice(device.device_id, wanted);
    notice(text.about.updateAsked(wanted), 'good', device.device_id);
    close();
  };
  return (
    <Dialog title={text.about.updateTitle} close={close}>
      <DialogForm close={close} action={text.bulk.updateRun} ready={!busy.value && differs.value} send={() => void run(update)}>
        <VersionField id="update-version" name="version" runs={device.agent_version} changed={(typed) => (version.value = typed)} />
        <FormError words={fault} />
      </DialogForm>
    </Dialog>
  );
}
