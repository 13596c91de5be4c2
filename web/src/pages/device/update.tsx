// Updating the agent of one device.

import { useComputed, useSignal } from '@preact/signals';

import { updateDevice } from '../../data/actions';
import { may, noteRefusal } from '../../data/permission';
import type { Device } from '../../data/types';
import { text } from '../../text';
import { Dialog } from '../../ui/dialog';
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
  const busy = useSignal(false);
  const fault = useSignal('');
  const version = useSignal('');
  const differs = useComputed(() => !['', device.agent_version].includes(version.value.trim()));
  const sent = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const wanted = version.peek().trim();
    busy.value = true;
    fault.value = '';
    try {
      await updateDevice(device.device_id, wanted);
      notice(text.about.updateAsked(wanted), 'good', device.device_id);
      close();
    } catch (error) {
      noteRefusal(error);
      fault.value = error instanceof Error ? error.message : text.problems.unknown;
      busy.value = false;
    }
  };
  return (
    <Dialog title={text.about.updateTitle} close={close}>
      <form onSubmit={(event) => void sent(event)}>
        <div class="dialog-body">
          <VersionField id="update-version" name="version" runs={device.agent_version} changed={(typed) => (version.value = typed)} />
          <FormError words={fault} />
        </div>
        <div class="dialog-foot">
          <button type="button" class="button" onClick={close}>
            {text.dialog.cancel}
          </button>
          <button type="submit" class="button primary" disabled={busy.value || !differs.value}>
            {text.bulk.updateRun}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
