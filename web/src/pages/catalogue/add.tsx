// Adds a model by its file or by an address. A file is read once for its checksum, and then sent while the dialog is away.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { ask, POST } from '../../data/client';
import { models } from '../../data/store';
import { addFile } from '../../data/uploads';
import { text } from '../../text';
import { percent } from '../../text/format';
import { visible } from '../../text/visible';
import { useAttempt } from '../../ui/busy';
import { Field } from '../../ui/choice';
import { Dialog, DialogForm } from '../../ui/dialog';
import { FormError } from '../../ui/form_error';
import { notice } from '../../ui/notices';
import { inWords } from './upload';

export function AddDialog({ close }: { close: () => void }) {
  const byFile = useSignal(true);
  const { busy, fault, run } = useAttempt();
  const share = useSignal<number | null>(null);
  const name = useRef<HTMLInputElement>(null);
  const suggested = useRef('');
  /** Names the model as the file or the address says, unless a person has typed a name. */
  const suggest = (file: string): void => {
    if (!name.current || !['', suggested.current].includes(name.current.value.trim())) return;
    name.current.value = suggested.current = file.replace(/\.[a-z0-9]{1,8}$/i, '').slice(0, 100).trim();
  };
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const add = async (form: FormData): Promise<void> => {
    const wish = { name: String(form.get('name')).trim(), shared: form.has('shared') };
    if (byFile.peek()) {
      const file = form.get('file') as File;
      const told = (done: number): void => {
        share.value = file.size > 0 ? done / file.size : 1;
      };
      const { model_id: model } = await addFile(wish, file, told, stop.current.signal).catch(inWords);
      notice(text.catalogue.sending(visible(wish.name)), 'good', model);
    } else {
      const url = String(form.get('url')).trim();
      const body = { ...wish, url, file_name: lastPart(url), sha256: String(form.get('sha256')).trim(), size_bytes: Number(form.get('size')) };
      models.changed(await ask(POST('/api/v1/models', { body })));
      notice(text.catalogue.added(visible(wish.name)));
    }
    close();
  };
  const send = (form: FormData): void => {
    void run(() => add(form)).finally(() => (share.value = null));
  };
  const words = text.catalogue;
  return (
    <Dialog title={words.addTitle} close={close}>
      <DialogForm close={close} action={byFile.value ? words.addFile : words.addAddress} ready={!busy.value} send={send}>
        <fieldset class="source-choice" disabled={busy}>
          <legend>{words.source}</legend>
          <label class="check-line">
            <input type="radio" name="source" checked={byFile} onChange={() => (byFile.value = true)} />
            {words.byFile}
          </label>
          <label class="check-line">
            <input type="radio" name="source" checked={!byFile.value} onChange={() => (byFile.value = false)} />
            {words.byAddress}
          </label>
        </fieldset>
        {byFile.value ? (
          <Field label={words.file} hint={words.fileHint} control={(ties) => <input {...ties} name="file" type="file" required onChange={(event) => suggest(event.currentTarget.files?.[0]?.name ?? '')} />} />
        ) : (
          <>
            <Field label={words.address} hint={words.addressHint} control={(ties) => <input {...ties} name="url" type="url" required placeholder="https://…" onChange={(event) => suggest(lastPart(event.currentTarget.value))} />} />
            <Field label={words.sha256} hint={words.sha256Hint} control={(ties) => <input {...ties} name="sha256" required pattern="[0-9a-f]{64}" spellcheck={false} autocomplete="off" />} />
            <Field label={words.size} control={(ties) => <input {...ties} name="size" type="number" required min="1" step="1" />} />
          </>
        )}
        <Field label={words.name} control={(ties) => <input {...ties} ref={name} name="name" required maxLength={100} autocomplete="off" />} />
        <label class="check-line">
          <input type="checkbox" name="shared" />
          {words.share}
        </label>
        {share.value !== null && (
          <p>
            <progress aria-label={words.checking('')} value={share.value} max={1} />
            <span class="small soft number">{words.checking(percent(share.value * 100))}</span>
          </p>
        )}
        <FormError words={fault} />
      </DialogForm>
    </Dialog>
  );
}

/** Returns the file name of an address. */
function lastPart(address: string): string {
  if (!URL.canParse(address)) return '';
  const last = new URL(address).pathname.split('/').pop() ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
