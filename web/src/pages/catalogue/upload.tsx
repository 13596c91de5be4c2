// The upload of a model's file: how far it is, a pause, and the file chosen again after a reload.

import { useSignal } from '@preact/signals';

import { may } from '../../data/permission';
import type { Model } from '../../data/types';
import { goOn, OtherFile, pause, resumeWith, uploads, type Upload } from '../../data/uploads';
import { text } from '../../text';
import { bytes, percent } from '../../text/format';
import { visible } from '../../text/visible';
import { useAttempt } from '../../ui/busy';
import { Field } from '../../ui/choice';
import { Dialog, DialogForm } from '../../ui/dialog';
import { FormError } from '../../ui/form_error';
import { Badge, Foreign } from '../../ui/parts';
import '../../ui/upload_notice';

/** How far the upload is; nothing without an upload from this tab. */
export function UploadProgress({ model }: { model: Model }) {
  const upload = uploads.value.get(model.model_id);
  if (!upload) return null;
  if (upload.state === 'failed') return <Foreign class="small bad-words">{uploadWords(upload)}</Foreign>;
  return (
    <span class="download">
      <progress aria-label={text.catalogue.uploadOf(visible(model.name))} value={upload.done} max={Math.max(upload.total, 1)} />
      <span class="small soft number">{uploadWords(upload)}</span>
    </span>
  );
}

/** Whether the backend has the file of a model. */
export function FileBadge({ model }: { model: Model }) {
  if (model.ready) return <Badge tone="good">{text.catalogue.state.ready}</Badge>;
  const state = uploads.value.get(model.model_id)?.state;
  const runs = state === 'uploading' || state === 'checking' || state === 'waiting';
  return runs ? <Badge tone="busy">{text.catalogue.state.uploading}</Badge> : <Badge tone="warn">{text.catalogue.state.incomplete}</Badge>;
}

export function UploadActions({ model }: { model: Model }) {
  const choosing = useSignal(false);
  const id = model.model_id;
  const upload = uploads.value.get(id);
  if (model.ready || model.url || !model.owned || !may('models:write')) return null;
  const name = visible(model.name);
  const runs = upload?.state === 'uploading' || upload?.state === 'waiting';
  // A file that has changed cannot be read again, however often it is tried.
  const useless = upload?.state === 'failed' && upload.error instanceof OtherFile;
  return (
    <>
      {runs && (
        <button type="button" class="button" aria-label={text.list.actionOn(text.catalogue.pause, name)} onClick={() => pause(id)}>
          {text.catalogue.pause}
        </button>
      )}
      {upload?.state === 'paused' && (
        <button type="button" class="button" aria-label={text.list.actionOn(text.catalogue.goOn, name)} onClick={() => goOn(id)}>
          {text.catalogue.goOn}
        </button>
      )}
      {upload?.state === 'failed' && !useless && (
        <button type="button" class="button" aria-label={text.list.actionOn(text.problems.retry, name)} onClick={() => goOn(id)}>
          {text.problems.retry}
        </button>
      )}
      {(!upload || useless || choosing.value) && (
        <button type="button" class="button" aria-label={text.list.actionOn(text.catalogue.choose, name)} onClick={() => (choosing.value = true)}>
          {text.catalogue.choose}
        </button>
      )}
      {choosing.value && <ChooseAgain model={model} close={() => (choosing.value = false)} />}
    </>
  );
}

function ChooseAgain({ model, close }: { model: Model; close: () => void }) {
  const { busy, fault, run } = useAttempt();
  const send = (values: FormData): void => {
    void run(async () => {
      await resumeWith(model, values.get('file') as File).catch(inWords);
      close();
    });
  };
  const checking = uploads.value.get(model.model_id);
  return (
    <Dialog title={text.catalogue.chooseTitle} close={close}>
      <DialogForm close={close} action={text.catalogue.goOn} ready={!busy.value} send={send}>
        <p dir="auto">{text.catalogue.chooseWhy(visible(model.file_name))}</p>
        <Field label={text.catalogue.file} control={(ties) => <input {...ties} name="file" type="file" required />} />
        {checking?.state === 'checking' && <p class="small soft number">{uploadWords(checking)}</p>}
        <FormError words={fault} />
      </DialogForm>
    </Dialog>
  );
}

/** Throws why a file was not sent: the browser's words for one that it cannot read help nobody. */
export function inWords(error: unknown): never {
  throw error instanceof DOMException ? new Error(text.catalogue.unreadable, { cause: error }) : error;
}

function uploadWords({ state, done, total, error }: Upload): string {
  switch (state) {
    case 'checking':
      return text.catalogue.checking(percent(total > 0 ? (done / total) * 100 : 100));
    case 'uploading':
      return text.catalogue.uploading(bytes(done), bytes(total));
    case 'waiting':
      return text.catalogue.waiting;
    case 'paused':
      return text.catalogue.paused(bytes(done), bytes(total));
    case 'failed':
      return error instanceof Error ? error.message : text.catalogue.uploadFailed;
  }
}
