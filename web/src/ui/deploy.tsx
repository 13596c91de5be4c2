// Deploys a model to one device or to many: what is missing is chosen here. To one device the deployment starts at once;
// for many there is a preview of the operation first.

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';

import { ask, idempotencyKey, POST } from '../data/client';
import { noteRefusal } from '../data/permission';
import { deployments, devices, models } from '../data/store';
import type { Work } from '../data/types';
import { language, text } from '../text';
import { Field } from './choice';
import { Dialog } from './dialog';
import { ManyDialog } from './many';
import { notice } from './notices';
import { Foreign, visible } from './parts';

import './deploy.css';

interface Props {
  /** The model and the devices, as far as they are known. */
  model?: string;
  targets?: readonly string[];
  close: () => void;
}

const MOST_LISTED = 50;

export function DeployDialog({ model, targets, close }: Props) {
  const chosen = useSignal<ReadonlySet<string>>(new Set(targets));
  const many = useSignal<{ work: Work; name: string; devices: string[] } | null>(null);
  const fault = useSignal('');
  const busy = useSignal(false);
  const running = useRef(false);
  /** One for each set of words: the same request may be repeated, another one may not use its key. */
  const sentOnce = useRef({ words: '', key: '' });
  void models.revision.value;
  const ready = models.all().filter((one) => one.ready && (one.owned || one.shared));
  const sent = (event: SubmitEvent): void => {
    event.preventDefault();
    if (running.current || chosen.peek().size === 0) return;
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const id = model ?? String(form.get('model'));
    const port = String(form.get('port') ?? '');
    const alias = String(form.get('alias') ?? '').trim();
    const wish = { model_id: id, serve: form.has('serve'), ...(port ? { port: Number(port) } : {}), ...(alias ? { alias } : {}) };
    const name = models.row(id)?.peek().name ?? id;
    const [only, ...others] = chosen.peek();
    if (only === undefined) return;
    if (others.length > 0) {
      many.value = { work: { kind: 'deploy', ...wish }, name, devices: [...chosen.peek()] };
      return;
    }
    const body = { ...wish, device_id: only };
    const words = JSON.stringify(body);
    if (sentOnce.current.words !== words) sentOnce.current = { words, key: idempotencyKey() };
    const params = { header: { 'Idempotency-Key': sentOnce.current.key } };
    running.current = busy.value = true;
    fault.value = '';
    ask(POST('/api/v1/deployments', { params, body }))
      .then(
        (deployment) => {
          deployments.changed(deployment);
          notice(text.deploying.started(visible(name), visible(devices.row(only)?.peek().name ?? only)));
          close();
        },
        (error: unknown) => {
          noteRefusal(error);
          fault.value = error instanceof Error ? error.message : text.problems.unknown;
        },
      )
      .finally(() => (running.current = busy.value = false));
  };
  if (many.value) {
    return <ManyDialog title={text.deploying.title} why={text.deploying.why} action={text.deploying.runMany} parts={[many.value]} close={close} />;
  }
  const lacks = ready.length === 0 && model === undefined;
  return (
    <Dialog title={text.deploying.title} close={close}>
      <form onSubmit={sent}>
        <div class="dialog-body">
          {model === undefined && ready.length > 0 && (
            <Field
              label={text.deploying.model}
              control={(ties) => (
                <select {...ties} name="model" required autofocus>
                  {ready.map(({ model_id: id, name, publisher, owned }) => (
                    <option key={id} value={id}>
                      {visible(owned || !publisher ? name : `${publisher}/${name}`).slice(0, 100)}
                    </option>
                  ))}
                </select>
              )}
            />
          )}
          {lacks && <p>{text.deploying.noModel}</p>}
          {targets === undefined && <DevicePicker chosen={chosen.value} choose={(next) => (chosen.value = next)} />}
          <div class="pair">
            <Field label={text.deploying.port} hint={text.deploying.portHint} control={(ties) => <input {...ties} name="port" type="number" min="1" max="65535" step="1" />} />
            <Field
              label={text.deploying.alias}
              hint={text.deploying.aliasHint}
              control={(ties) => <input {...ties} name="alias" pattern="[a-z0-9][a-z0-9._\-]{0,63}" autocomplete="off" spellcheck={false} />}
            />
          </div>
          <label class="check-line">
            <input type="checkbox" name="serve" defaultChecked />
            {text.deploying.serve}
          </label>
          <p class="form-error" role="alert" dir="auto">
            {fault}
          </p>
        </div>
        <div class="dialog-foot">
          <button type="button" class="button" onClick={close}>
            {text.dialog.cancel}
          </button>
          <button type="submit" class="button primary" disabled={busy.value || lacks || chosen.value.size === 0}>
            {chosen.value.size > 1 ? text.deploying.next : text.deploying.run}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Chooses devices: one by one, or all that a search finds. */
function DevicePicker({ chosen, choose }: { chosen: ReadonlySet<string>; choose: (next: ReadonlySet<string>) => void }) {
  const words = useSignal('');
  void devices.revision.value;
  const wanted = words.value.trim().toLowerCase();
  const found = devices
    .all()
    .filter(({ name, device_id, tags }) => wanted === '' || name.toLowerCase().includes(wanted) || device_id.includes(wanted) || (tags ?? []).some((tag) => tag.toLowerCase().includes(wanted)))
    .sort((a, b) => a.name.localeCompare(b.name, language));
  if (devices.size === 0) return <p>{text.deploying.noDevice}</p>;
  const all = found.length > 0 && found.every(({ device_id }) => chosen.has(device_id));
  const toggleAll = (): void => {
    const next = new Set(chosen);
    for (const { device_id: id } of found) {
      if (all) next.delete(id);
      else next.add(id);
    }
    choose(next);
  };
  const toggle = (id: string): void => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    choose(next);
  };
  return (
    <fieldset class="picker">
      <legend>
        {text.deploying.devices} <span class="soft small" role="status">{text.deploying.chosen(chosen.size)}</span>
      </legend>
      <input
        type="search"
        aria-label={text.deploying.searchDevices}
        placeholder={text.deploying.searchDevices}
        autocomplete="off"
        spellcheck={false}
        value={words}
        onInput={(event) => (words.value = event.currentTarget.value)}
      />
      <label class="check-line">
        <input type="checkbox" checked={all} onChange={toggleAll} disabled={found.length === 0} />
        {text.deploying.all(found.length)}
      </label>
      <ul>
        {found.slice(0, MOST_LISTED).map(({ device_id: id, name, online }) => (
          <li key={id}>
            <label class="check-line">
              <input type="checkbox" checked={chosen.has(id)} onChange={() => toggle(id)} />
              <Foreign>{name}</Foreign>
              {!online && <span class="soft small">{text.bulk.offline}</span>}
            </label>
          </li>
        ))}
      </ul>
      {found.length > MOST_LISTED && <p class="soft small">{text.deploying.more(found.length - MOST_LISTED)}</p>}
    </fieldset>
  );
}
