// Lets a machine log in as the person at this page (RFC 8628): type its code, look at what asks, allow or refuse. A code in
// the address fills the field and decides nothing, and neither button has the focus: Enter alone allows nobody.

import './machine.css';

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { ask, POST } from '../../data/client';
import { me } from '../../data/store';
import type { PendingDevice } from '../../data/types';
import { text } from '../../text';
import { moment } from '../../text/format';
import { EntryField, EntryForm, Refusal, useRefusal } from '../../ui/entry_form';
import { Filled } from '../../ui/filled';
import { Foreign } from '../../ui/parts';
import { useTitle } from '../../ui/title';
import { useFragment } from './fragment';

export function MachinePage() {
  const code = useFragment();
  const pending = useSignal<PendingDevice | null>(null);
  const done = useSignal<'allowed' | 'refused' | null>(null);
  if (done.value) return <Done allowed={done.value === 'allowed'} />;
  if (pending.value) return <Decide pending={pending.value} decided={(how) => (done.value = how)} />;
  const send = async (values: FormData): Promise<void> => {
    const body = { user_code: String(values.get('user-code')).trim() };
    pending.value = await ask(POST('/api/v1/auth/device/inquire', { body }));
  };
  return (
    <EntryForm title={text.machine.title} submit={text.machine.next} send={send}>
      <EntryField name="user-code" label={text.machine.code} hint={text.machine.codeHint} value={code.slice(0, 20)} maxLength={20} />
    </EntryForm>
  );
}

function Decide({ pending, decided }: { pending: PendingDevice; decided: (how: 'allowed' | 'refused') => void }) {
  useTitle(text.machine.question);
  const { failed, wait, refuse } = useRefusal();
  const busy = useSignal(false);
  const title = useFocus();
  const decide = async (allow: boolean): Promise<void> => {
    failed.value = '';
    busy.value = true;
    try {
      await ask(POST('/api/v1/auth/device/decide', { body: { user_code: pending.user_code, allow } }));
      decided(allow ? 'allowed' : 'refused');
    } catch (error) {
      refuse(error);
      busy.value = false;
    }
  };
  return (
    <section class="entry" aria-labelledby="machine-title">
      <h1 id="machine-title" ref={title} tabIndex={-1}>
        {text.machine.question}
      </h1>
      <p>
        <Filled words={text.machine.asks} parts={{ machine: <Name>{pending.client_name}</Name>, person: <Name>{me.value?.email ?? ''}</Name> }} />
      </p>
      <p class="user-code">{pending.user_code}</p>
      <p>
        <Filled words={text.machine.from} parts={{ address: <Foreign>{pending.address}</Foreign>, when: moment(pending.created_at).replaceAll(' ', '\u00a0') }} />
      </p>
      <p>{text.machine.gets}</p>
      <p>{text.machine.careful}</p>
      <Refusal words={failed.value} wait={wait.value} />
      <div class="choice">
        <button type="button" class="button" disabled={busy.value || wait.value > 0} onClick={() => void decide(false)}>
          {text.machine.refuse}
        </button>
        <button type="button" class="button primary" disabled={busy.value || wait.value > 0} onClick={() => void decide(true)}>
          {text.machine.allow}
        </button>
      </div>
    </section>
  );
}

function Name({ children }: { children: string }) {
  return (
    <strong>
      <Foreign>{children}</Foreign>
    </strong>
  );
}

function Done({ allowed }: { allowed: boolean }) {
  useTitle(allowed ? text.machine.allowed : text.machine.refused);
  const title = useFocus();
  return (
    <section class="entry">
      <h1 ref={title} tabIndex={-1}>
        {allowed ? text.machine.allowed : text.machine.refused}
      </h1>
      <p>{text.machine.close}</p>
    </section>
  );
}

/** Gives the focus to a heading, which is then read out. */
function useFocus() {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return heading;
}
