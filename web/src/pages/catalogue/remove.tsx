// The removal of a model: from its devices first, then from the backend. Each names what is lost and has to be typed.

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';

import { ask, DELETE } from '../../data/client';
import { controllable, leftOut } from '../../data/controllable';
import { may, noteRefusal } from '../../data/permission';
import { isHeld } from '../../data/deployment_status';
import { models } from '../../data/store';
import type { Deployment, Model } from '../../data/types';
import { forget } from '../../data/uploads';
import { text } from '../../text';
import { visible } from '../../text/visible';
import { Confirm, Dialog } from '../../ui/dialog';
import { ManyDialog } from '../../ui/many';
import { failure, notice } from '../../ui/notices';
import { go } from '../../ui/router';

/** Of a longer name, its beginning has to be typed; of one with signs that nobody can type, the id. */
const LONGEST = 40;

/** `listed` are the deployments of the model that the page shows. One that has failed does not keep the model from its removal. */
export function RemoveModel({ model, listed }: { model: Model; listed: readonly Deployment[] }) {
  const there = listed.filter(isHeld);
  const open = useSignal<'remove' | 'from' | null>(null);
  const typed = useSignal('');
  const busy = useSignal(false);
  const running = useRef(false);
  /** Where the model is removed from: fixed when that dialog opens. */
  const targets = useRef<readonly Deployment[]>([]);
  const left = useRef(0);
  const plain = visible(model.name) === model.name;
  const wanted = plain ? model.name.slice(0, LONGEST).trim() : model.model_id;
  const words = text.catalogue;
  const remove = async (): Promise<void> => {
    if (running.current) return;
    running.current = busy.value = true;
    try {
      forget(model.model_id);
      await ask(DELETE('/api/v1/models/{model_id}', { params: { path: { model_id: model.model_id } } }));
      models.removed(model.model_id);
      notice(words.removed(wanted));
      go('/models');
    } catch (error) {
      noteRefusal(error);
      failure(error);
      running.current = busy.value = false;
    }
  };
  const show = (): void => {
    typed.value = '';
    open.value = 'remove';
  };
  const close = (): void => {
    open.value = null;
  };
  const removeFrom = (): void => {
    targets.current = controllable(there);
    left.current = leftOut(there);
    open.value = targets.current.length > 0 ? 'from' : null;
    if (open.peek() === null) notice(text.deployed.updating);
  };
  return (
    <>
      <button type="button" class="button danger" onClick={show}>
        {words.remove}
      </button>
      {open.value === 'remove' && there.length > 0 && (
        <Dialog title={words.removeTitle} close={close}>
          <div class="dialog-body">
            <p>{words.removeUsed(there.length)}</p>
          </div>
          <div class="dialog-foot">
            <button type="button" class="button" onClick={close}>
              {text.dialog.cancel}
            </button>
            {may('deployments:write') && (
              <button type="button" class="button danger" onClick={removeFrom}>
                {words.removeFrom}
              </button>
            )}
          </div>
        </Dialog>
      )}
      {open.value === 'remove' && there.length === 0 && (
        <Confirm title={words.removeTitle} action={words.removeRun} close={close} ready={typed.value.trim() === wanted && !busy.value} act={() => void remove()}>
          <p dir="auto">{words.removeWhy(wanted)}</p>
          <div class="field">
            <label for="remove-model" dir="auto">
              {text.many.type(wanted)}
            </label>
            <input id="remove-model" autofocus autocomplete="off" spellcheck={false} value={typed} onInput={(event) => (typed.value = event.currentTarget.value)} />
          </div>
        </Confirm>
      )}
      {open.value === 'from' && (
        <ManyDialog
          title={words.removeFromTitle}
          why={words.removeFromWhy}
          action={words.removeFromRun}
          typed={wanted}
          parts={[{ model: model.model_id, name: model.name, work: { kind: 'remove', model_id: model.model_id }, devices: targets.current.map(({ device_id }) => device_id) }]}
          left={left.current}
          close={close}
        />
      )}
    </>
  );
}
