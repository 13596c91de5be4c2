// The removal of a device: it says what is lost, and its name has to be typed.

import { useSignal } from '@preact/signals';

import { removeDevice } from '../../data/actions';
import { modelName } from '../../data/names';
import { noteRefusal } from '../../data/permission';
import { isThere } from '../../data/deployment_status';
import { deployments } from '../../data/store';
import type { Device } from '../../data/types';
import { text } from '../../text';
import { visible } from '../../text/visible';
import { Confirm } from '../../ui/dialog';
import { failure, notice } from '../../ui/notices';
import { Foreign } from '../../ui/parts';
import { go } from '../../ui/router';

/** Of a longer name, its beginning has to be typed; of one with signs that nobody can type, the id. */
const LONGEST = 40;
/** How many of the models that are lost are named. */
const MOST_SHOWN = 8;

export function RemoveDevice({ device }: { device: Device }) {
  const open = useSignal(false);
  const typed = useSignal('');
  const busy = useSignal(false);
  const plain = visible(device.name) === device.name;
  const wanted = plain ? device.name.slice(0, LONGEST).trim() : device.device_id;
  const lost = deployments.all().filter((one) => one.device_id === device.device_id && isThere(one));
  const remove = async (): Promise<void> => {
    busy.value = true;
    try {
      await removeDevice(device.device_id);
      notice(text.about.removed(wanted));
      go('/devices');
    } catch (error) {
      noteRefusal(error);
      failure(error);
      busy.value = false;
    }
  };
  const ask = (): void => {
    typed.value = '';
    open.value = true;
  };
  return (
    <section class="card danger-zone">
      <h2>{text.about.dangerTitle}</h2>
      <p>{text.about.danger}</p>
      <button type="button" class="button danger" onClick={ask}>
        {text.about.remove}
      </button>
      {open.value && (
        <Confirm
          title={text.about.dangerTitle}
          action={text.about.removeConfirm}
          close={() => (open.value = false)}
          ready={typed.value.trim() === wanted && !busy.value}
          act={() => void remove()}
        >
          <p>{text.about.lost(lost.length)}</p>
          {lost.length > 0 && (
            <div class="touched">
              <ul>
                {lost.slice(0, MOST_SHOWN).map(({ deployment_id: id, model_id: model, alias }) => (
                  <li key={id}>
                    <Foreign>{modelName(model, alias)}</Foreign>
                  </li>
                ))}
              </ul>
              {lost.length > MOST_SHOWN && <p class="soft small">{text.bulk.andMore(lost.length - MOST_SHOWN)}</p>}
            </div>
          )}
          <div class="field">
            <label for="remove-name" dir="auto">
              {text.about.typeToConfirm(wanted)}
            </label>
            <input
              id="remove-name"
              autofocus
              autocomplete="off"
              spellcheck={false}
              value={typed}
              onInput={(event) => (typed.value = event.currentTarget.value)}
            />
          </div>
        </Confirm>
      )}
    </section>
  );
}
