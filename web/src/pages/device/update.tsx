// Updating the agent of one device.

import { useSignal } from '@preact/signals';

import { updateDevice } from '../../data/actions';
import { may, noteRefusal } from '../../data/permission';
import type { Device } from '../../data/types';
import { text } from '../../text';
import { Dialog } from '../../ui/dialog';
import { notice } from '../../ui/notices';

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
  const busy = useSignal(false);
  const fault = useSignal('');
  const sent = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const version = String(new FormData(event.currentTarget as HTMLFormElement).get('version')).trim();
    busy.value = true;
    fault.value = '';
    try {
      await updateDevice(device.device_id, version);
      notice(text.about.updateAsked(version));
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
          <div class="field">
            <label for="update-version">{text.bulk.version}</label>
            <input id="update-version" name="version" required autofocus autocomplete="off" spellcheck={false} aria-describedby="update-hint" />
            <p class="hint" id="update-hint">
              {text.bulk.versionHint}
            </p>
          </div>
          <p class="form-error" role="alert">
            {fault}
          </p>
        </div>
        <div class="dialog-foot">
          <button type="button" class="button" onClick={close}>
            {text.dialog.cancel}
          </button>
          <button type="submit" class="button primary" disabled={busy}>
            {text.bulk.update}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
