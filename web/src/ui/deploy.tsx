// Deploys a model to one device or to many: what is missing is chosen here. To one device the deployment starts at once;
// for many there is a preview of the operation first.

import { useSignal } from '@preact/signals';
import { useId, useRef } from 'preact/hooks';

import { servesAgain } from '../data/actions';
import { ask, idempotencyKey, POST } from '../data/client';
import { controllable } from '../data/controllable';
import { followDeployment } from '../data/ends';
import { isOffered, nameOf } from '../data/model_name';
import { deviceName, modelName } from '../data/names';
import { may } from '../data/permission';
import { gather, overtaken, refusedSetting, typedOf, wordsIn, type Fault, type FoundWords, type Typed } from '../data/settings';
import { deployments, devices, devicesLoading, models } from '../data/store';
import type { Deployment } from '../data/types';
import { text } from '../text';
import { brief, visible } from '../text/visible';
import { useAttempt } from './busy';
import { Field } from './choice';
import { DevicePicker } from './device_picker';
import './deployment_notice';
import { Dialog, DialogForm } from './dialog';
import { FormError } from './form_error';
import { useLost } from './lost';
import { ManyDialog, type Part } from './many';
import { deploymentWork, notice } from './notices';
import { Foreign } from './parts';
import { SettingsFields } from './settings_fields';

import './deploy.css';

interface Props {
  /** The model and the devices, as far as they are known. */
  model?: string;
  targets?: readonly string[];
  /** How many more devices were meant, which are updating. */
  left?: number;
  /** The deployment whose settings are changed, by deploying its model to its device again. */
  changed?: Deployment;
  close: () => void;
}

/** The device of whoever has a single one: there is nothing to choose. */
function onlyDevice(): string[] {
  const all = devicesLoading.peek().state === 'ready' ? devices.all() : [];
  return all.length === 1 ? all.map(({ device_id: id }) => id) : [];
}

export function DeployDialog({ model, targets, left = 0, changed, close }: Props) {
  useLost(may('deployments:write'), close);
  const chosen = useSignal<ReadonlySet<string>>(new Set(targets ?? onlyDevice()));
  const many = useSignal<Part | null>(null);
  const { busy, fault, run } = useAttempt();
  // Fixed when the dialog opens: a later event must not change a box that somebody has already read.
  const serves = useRef(!changed || servesAgain(changed)).current;
  /** One for each set of words: the same request may be repeated, another one may not use its key. */
  const sentOnce = useRef({ words: '', key: '' });
  void models.revision.value;
  const ready = models.all().filter((one) => one.ready && isOffered(one));
  const picked = useSignal(model ?? '');
  const id = model ?? (ready.some((one) => one.model_id === picked.value) ? picked.value : (ready[0]?.model_id ?? ''));
  const settings = useSettings(id, chosen.value);
  const send = (form: FormData): void => {
    const wanted = settings.read();
    if (wanted === null) return;
    const port = String(form.get('port') ?? '');
    const alias = String(form.get('alias') ?? '').trim();
    const wish = { model_id: id, serve: form.has('serve'), ...(port ? { port: Number(port) } : {}), ...(alias ? { alias } : {}), ...wanted };
    const name = modelName(id);
    const wanting = controllable([...chosen.peek()].map((device_id) => ({ device_id }))).map(({ device_id }) => device_id);
    const [only] = wanting;
    if (only === undefined) {
      fault.value = text.deployed.updating;
      return;
    }
    // Several were chosen, also if by now all but one are updating: the preview says so.
    if (chosen.peek().size > 1) {
      many.value = { model: wish.model_id, work: { kind: 'deploy', ...wish }, name, devices: wanting };
      return;
    }
    const body = { ...wish, device_id: only };
    const words = JSON.stringify(body);
    if (sentOnce.current.words !== words) sentOnce.current = { words, key: idempotencyKey() };
    const params = { header: { 'Idempotency-Key': sentOnce.current.key } };
    void run(async () => {
      const deployment = await ask(POST('/api/v1/deployments', { params, body })).catch((error: unknown) => {
        if (settings.refuse(error)) return null;
        throw error;
      });
      if (deployment === null) return;
      deployments.changed(deployment);
      followDeployment(deployment);
      notice(text.deploying.started(visible(name), visible(devices.row(only)?.peek().name ?? only)), 'good', deploymentWork(deployment));
      close();
    });
  };
  if (many.value) {
    const updating = left + chosen.peek().size - many.value.devices.length;
    return (
      <ManyDialog
        title={text.deploying.title}
        why={text.deploying.why}
        action={text.deploying.runMany}
        parts={[many.value]}
        left={updating}
        leftWords={text.many.devicesLeftOut}
        close={close}
      />
    );
  }
  const fields = id !== '' && <SettingsFields key={settings.key} opened={changed !== undefined} {...settings.fields} />;
  const lacks = ready.length === 0 && model === undefined;
  const name = brief(modelName(id), 60);
  const title = changed ? text.pluginSettings.of(name) : model === undefined ? text.deploying.title : text.deploying.titleOf(name);
  return (
    <Dialog title={title} close={close}>
      <DialogForm
        close={close}
        action={changed ? text.pluginSettings.run : chosen.value.size > 1 ? text.deploying.next : text.deploying.run}
        ready={!busy.value && !lacks && chosen.value.size > 0}
        send={send}
      >
        {model === undefined && ready.length > 0 && (
          <Field
            label={text.deploying.model}
            control={(ties) => (
              <select {...ties} name="model" required autofocus value={id} onChange={(event) => (picked.value = event.currentTarget.value)}>
                {ready.map((one) => (
                  <option key={one.model_id} value={one.model_id}>
                    {brief(nameOf(one))}
                  </option>
                ))}
              </select>
            )}
          />
        )}
        {lacks && <p>{text.deploying.noModel}</p>}
        {model !== undefined && targets?.length === 1 && <About model={model} device={targets[0] ?? ''} />}
        {left > 0 && <p>{text.many.devicesLeftOut(left)}</p>}
        {targets === undefined && <DevicePicker chosen={chosen.value} choose={(next) => (chosen.value = next)} />}
        {changed && fields}
        <div class="pair">
          <Field label={text.deploying.port} hint={text.deploying.portHint} control={(ties) => <input {...ties} name="port" type="number" min="1" max="65535" step="1" />} />
          <Field
            label={text.deploying.alias}
            hint={text.deploying.aliasHint}
            control={(ties) => <input {...ties} name="alias" pattern="[a-z0-9][a-z0-9._\-]{0,63}" title={text.deploying.aliasForm} autocomplete="off" spellcheck={false} />}
          />
        </div>
        <ServeChoice serves={serves} />
        {!changed && fields}
        <FormError words={fault} />
      </DialogForm>
    </Dialog>
  );
}

function ServeChoice({ serves }: { serves: boolean }) {
  const id = useId();
  return (
    <>
      <div class="field">
        <label class="check-line">
          <input type="checkbox" name="serve" defaultChecked={serves} aria-describedby={`${id}-hint`} />
          {text.deploying.serve}
        </label>
        <p class="hint" id={`${id}-hint`}>
          {text.deploying.serveHint}
        </p>
      </div>
      <p class="hint">{text.deploying.originsHint}</p>
    </>
  );
}

/** What the dialog is about, if both are known. */
function About({ model, device }: { model: string; device: string }) {
  return (
    <p>
      <Foreign class="strong">{text.deployed.rowOf(visible(modelName(model)), visible(deviceName(device)))}</Foreign>
    </p>
  );
}

/** What somebody has typed over the settings of a model, and what stood there before. */
interface Touched {
  /** The model. */
  key: string;
  fields: Typed['fields'];
  others: string | null;
  found: FoundWords;
}

function untouched(key: string): Touched {
  return { key, fields: {}, others: null, found: {} };
}

/** The settings of the plugin: with one device those that the deployment has, with many none, since each may have its own. */
function useSettings(model: string, chosen: ReadonlySet<string>) {
  // What was typed stays when other devices are chosen, whose deployments have other settings.
  const touched = useSignal<Touched>(untouched(''));
  const faults = useSignal<Readonly<Record<string, Fault>>>({});
  const refused = useSignal<{ key: string; name: string; words: string } | null>(null);
  const drop = useSignal(false);
  const plugin = models.row(model)?.value.plugin ?? '';
  const present = (): Deployment[] => deployments.all().filter((one) => one.current && one.model_id === model);
  void deployments.revision.value;
  const last = present().filter((one) => chosen.has(one.device_id));
  /** The device whose settings the fields show, if it is one. */
  const device = chosen.size === 1 ? [...chosen].join() : '';
  const [only] = chosen.size === 1 ? last : [];
  const key = model;
  const before = typedOf(plugin, only?.settings);
  const mine = touched.value.key === key ? touched.value : untouched(key);
  const kept: Typed = { fields: { ...before.fields, ...mine.fields }, others: mine.others ?? before.others };
  const canDrop = chosen.size > 1 && last.some(hasSettings);
  const said = refused.value?.key === key ? refused.value : touched.value.key === key || only?.state !== 'failed' ? null : refusedSetting(only.reason);
  const fields = {
    plugin,
    typed: kept,
    change: (typed: Typed): void => {
      const changed = Object.entries(typed.fields).filter(([name, words]) => words !== (kept.fields[name] ?? ''));
      const others = typed.others === kept.others ? mine.others : typed.others;
      // What stood in a field when somebody began to type in it.
      const names = [...changed.map(([name]) => name), ...(others === mine.others ? [] : [''])];
      const found = { ...mine.found };
      for (const name of names) if (found[name]?.device !== device) found[name] = { device, words: wordsIn(before, name) };
      touched.value = { key, fields: { ...mine.fields, ...Object.fromEntries(changed) }, others, found };
      faults.value = {};
      refused.value = null;
    },
    faults: faults.value,
    theirs: before,
    refused: said,
    meaning: only && hasSettings(only) ? text.pluginSettings.now : last.some(hasSettings) ? text.pluginSettings.keep : text.pluginSettings.fresh,
    drop: canDrop ? drop : null,
  };
  return {
    key,
    fields,
    /** Returns the settings to send, or nothing and shows what is wrong. */
    read: () => {
      // Rows are drawn a moment after they have changed: what is sent rests on what they are.
      const now = chosen.size === 1 ? typedOf(plugin, present().find(({ device_id }) => chosen.has(device_id))?.settings) : before;
      const typed: Typed = { fields: { ...now.fields, ...mine.fields }, others: mine.others ?? now.others };
      const { settings, faults: wrong } = gather(plugin, typed, now, canDrop && drop.peek());
      // If two people change a setting, the second is warned. Sending again confirms the overwrite.
      const told = overtaken(mine, mine.found, device, now).filter((name) => !(name in wrong));
      const found = Object.fromEntries(told.map((name) => [name, { device, words: wordsIn(now, name) }]));
      if (told.length > 0) touched.value = { ...mine, found: { ...mine.found, ...found } };
      const all = { ...Object.fromEntries(told.map((name) => [name, 'overtaken' as const])), ...wrong };
      faults.value = all;
      if (Object.keys(all).length > 0) return null;
      return settings ? { settings } : {};
    },
    /** Shows a refusal at its field. Returns whether it has one. */
    refuse: (error: unknown): boolean => {
      const about = error instanceof Error ? refusedSetting(error.message) : null;
      refused.value = about && { key, ...about };
      return about !== null;
    },
  };
}

function hasSettings({ settings }: Deployment): boolean {
  return Object.keys(settings ?? {}).length > 0;
}
