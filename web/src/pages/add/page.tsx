// Adds a device: what its key may do is chosen first, then the line is made, and the device appears below by itself.

import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { createKey, keys, useList } from '../../data/account';
import { allowed } from '../../data/allowed';
import { findInstaller, HOWS, installLine, supports, type How, type Installer } from '../../data/install';
import { isValid } from '../../data/keys';
import { me } from '../../data/store';
import { ownFirst, reader, SYSTEMS, type System } from '../../data/system';
import type { Key, KeyCreated } from '../../data/types';
import { text } from '../../text';
import { useAttempt } from '../../ui/busy';
import { now } from '../../ui/clock';
import { future } from '../../ui/exact_times';
import { FormError } from '../../ui/form_error';
import { keyOf, KeyFields } from '../../ui/key_fields';
import { Icon } from '../../ui/icon';
import { Unpublished } from '../../ui/install_lines';
import { Empty, Failed, Skeleton } from '../../ui/parts';
import { addressWith, change, query } from '../../ui/router';
import { CopyBox } from '../../ui/secret';
import { useTitle } from '../../ui/title';
import { Arrivals } from './arrivals';
import { KeyBeside } from './key_beside';
import { keepMade } from './made';

import '../../ui/tabs.css';
import './add.css';

export function AddPage() {
  const installer = useSignal<Installer | null>(null);
  const { fault, run, busy } = useAttempt();
  const role = me.value?.role;
  useList(keys, role !== undefined && allowed(role, 'keys:read'));
  const look = (): void => {
    void run(async () => {
      installer.value = await findInstaller();
    });
  };
  useTitle(text.add.title);
  useEffect(() => {
    look();
  }, []);
  const system = SYSTEMS.find((known) => known === query.value.get('system')) ?? reader();
  return (
    <div class="page add-page">
      <header class="add-head">
        <a class="back" href="/devices">
          <Icon name="back" />
          {text.device.back}
        </a>
        <h1>{text.add.title}</h1>
      </header>
      <div class="page-scroll">
        <p class="hint">{text.add.hint}</p>
        {role === undefined && <Skeleton lines={5} />}
        {role !== undefined && !allowed(role, 'keys:write') && (
          <Empty icon="key" title={text.add.viewerTitle}>
            <p>{text.add.viewer}</p>
          </Empty>
        )}
        {role !== undefined && allowed(role, 'keys:write') && (
          <>
            <Systems system={system} />
            {!installer.value && busy.value && <Skeleton lines={4} />}
            {!installer.value && fault.value !== '' && <Failed title={text.add.failed} error={new Error(fault.value)} retry={look} />}
            {installer.value && <Maker key={system} installer={installer.value} system={system} />}
            <Arrivals />
          </>
        )}
      </div>
    </div>
  );
}

function Systems({ system }: { system: System }) {
  return (
    <nav class="tabs" aria-label={text.add.system}>
      {ownFirst().map((one) => (
        <a key={one} href={addressWith({ system: one === reader() ? null : one })} aria-current={one === system ? 'page' : undefined}>
          {text.add.systems[one]}
        </a>
      ))}
    </nav>
  );
}

function Maker({ installer, system }: { installer: Installer; system: System }) {
  const how = HOWS.find((known) => known === query.value.get('key')) ?? 'line';
  const shown = useSignal<KeyCreated | null>(null);
  const hidden = useSignal(false);
  const { busy, fault, run } = useAttempt();
  // A key that nobody can use any more is not shown any more.
  const over = useComputed(() => {
    const info = shown.value?.info;
    return info !== undefined && (keys.rows.revision.value, !isValid(keys.rows.row(info.key_id)?.value ?? info, now.value));
  }).value;
  useEffect(() => {
    if (over) shown.value = null;
  }, [over]);
  if (!supports(installer, system)) {
    return (
      <Empty icon="warning" title={text.add.systems[system]}>
        <p>{text.add.unsupported[system]}</p>
        {system !== 'linux' && supports(installer, 'linux') && <p>{text.add.unsupportedNext}</p>}
      </Empty>
    );
  }
  const sent = (event: SubmitEvent): void => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    void run(async () => {
      const created = await createKey(keyOf(values, text.add.title));
      shown.value = created;
      hidden.value = false;
      keepMade(created.info);
    });
  };
  const hide = (): void => {
    shown.value = null;
    hidden.value = true;
  };
  const { info, key } = shown.value ?? {};
  const line = installLine(installer, info?.kind ?? 'registration', how, key, system);
  return (
    <>
      <Unpublished installer={installer} />
      <form class="card maker" onSubmit={sent}>
        <KeyFields />
        <HowChoice how={how} />
        <FormError words={fault} />
        <div class="form-foot">
          <button type="submit" class={key === undefined ? 'button primary' : 'button'} id="install-make" disabled={busy}>
            {key === undefined ? text.add.make : text.add.another}
          </button>
          <span role="status">{key !== undefined ? text.add.made : hidden.value ? text.add.hidden : ''}</span>
        </div>
      </form>
      {info && key !== undefined && (
        <section class="card maker" aria-label={text.add.lineOf}>
          <CopyBox value={line} label={text.add.lineOf} id="install-line" />
          {how !== 'line' && <KeyBeside value={key} how={how} />}
          <p class="hint">
            {info.kind === 'fleet' ? text.add.many(ends(info)) : text.add.single(ends(info))} {text.add.once}
          </p>
          <div>
            <button type="button" class="button" onClick={hide}>
              {text.add.hide}
            </button>
          </div>
        </section>
      )}
    </>
  );
}

function ends({ expires_at: end }: Key): string {
  return end ? future(end) : text.admin.noEnd;
}

function HowChoice({ how }: { how: How }) {
  return (
    <fieldset class="radio-set">
      <legend>{text.add.how}</legend>
      {HOWS.map((one) => (
        <label key={one}>
          <input type="radio" name="how" value={one} checked={one === how} onChange={() => change({ key: one === 'line' ? null : one }, { replace: true })} />
          {text.add.hows[one]}
        </label>
      ))}
    </fieldset>
  );
}
