// The sessions of the person at this page, and their password. A part of the page about settings.

import './security.css';

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { ask, DELETE, GET, POST } from '../../data/client';
import type { SessionInfo } from '../../data/types';
import { onReturn } from '../../data/visible';
import { text } from '../../text';
import { brief } from '../../text/visible';
import { useAsked } from '../../ui/asked';
import { EntryField, EntryForm } from '../../ui/entry_form';
import { Filled } from '../../ui/filled';
import { failure, notice } from '../../ui/notices';
import { Badge, Failed, Foreign, Skeleton, Time } from '../../ui/parts';
import { Prose } from '../../ui/prose';

export function Security() {
  const changes = useSignal(0);
  return (
    <>
      <Sessions changes={changes.value} />
      <Password changed={() => (changes.value += 1)} />
    </>
  );
}

/** The sessions, which are loaded anew with each of `changes`, and when somebody comes back to the page. */
function Sessions({ changes }: { changes: number }) {
  const sessions = useSignal<readonly SessionInfo[] | null>(null);
  const failed = useSignal<unknown>(null);
  const newest = useRef(0);
  const load = async (again = false): Promise<void> => {
    const number = (newest.current += 1);
    try {
      const { items } = await ask(GET('/api/v1/sessions'));
      if (number !== newest.current) return;
      sessions.value = items;
      failed.value = null;
    } catch (error) {
      // Who comes back to the page has asked for nothing: the list that they know stays.
      if (number === newest.current && !(again && sessions.peek())) failed.value = error;
    }
  };
  useEffect(() => void load(), [changes]);
  useEffect(() => onReturn(() => void load(true)), []);
  const ending = useRef(new Set<string>());
  const end = async (id: string, work: () => Promise<unknown>, done: string): Promise<void> => {
    // A second click, as of a double click, would end what has ended.
    if (ending.current.has(id)) return;
    ending.current.add(id);
    try {
      await work();
      notice(done);
    } catch (error) {
      failure(error);
    }
    await load();
    ending.current.delete(id);
    document.getElementById('sessions-title')?.focus();
  };
  const endOne = (id: string): Promise<void> =>
    end(id, () => ask(DELETE('/api/v1/sessions/{session_id}', { params: { path: { session_id: id } } })), text.security.ended);
  const endOthers = (): Promise<void> => end('others', () => ask(DELETE('/api/v1/sessions')), text.security.endedOthers);
  return (
    <section class="card settings-card" aria-labelledby="sessions-title" id="sessions">
      <h2 id="sessions-title" tabIndex={-1}>
        {text.security.sessions}
      </h2>
      <p class="hint">{text.security.sessionsHint}</p>
      {failed.value !== null && <Failed title={text.security.failed} error={failed.value} retry={() => void load()} />}
      {sessions.value === null && failed.value === null && <Skeleton lines={3} />}
      {sessions.value && (
        <>
          <ul class="sessions">
            {sessions.value.map((one) => (
              <Session key={one.session_id} session={one} end={() => void endOne(one.session_id)} />
            ))}
          </ul>
          {sessions.value.some(({ current }) => !current) && (
            <button type="button" class="button danger" onClick={() => void endOthers()}>
              {text.security.endOthers}
            </button>
          )}
        </>
      )}
    </section>
  );
}

function Session({ session, end }: { session: SessionInfo; end: () => void }) {
  const name = session.agent || (session.kind === 'browser' ? text.security.browser : text.security.program);
  const address = session.address ? <Foreign>{session.address}</Foreign> : text.security.unknownAddress;
  return (
    <li>
      <div>
        <p>
          <strong>
            <Foreign>{name}</Foreign>
          </strong>{' '}
          {session.current && <Badge tone="good">{text.security.current}</Badge>}
        </p>
        <p class="soft small">
          <Filled words={text.security.used} parts={{ when: <Time at={session.last_used_at} />, address }} />
          {' · '}
          <Filled words={text.security.created} parts={{ when: <Time at={session.created_at} />, how: text.security.login[session.login] ?? '' }} />
        </p>
      </div>
      {!session.current && (
        <button type="button" class="button" aria-label={text.security.endThis(brief(name))} onClick={end}>
          {text.security.end}
        </button>
      )}
    </li>
  );
}

function Password({ changed }: { changed: () => void }) {
  const form = useSignal(0);
  const send = async (values: FormData): Promise<void> => {
    const word = (name: string): string => String(values.get(name));
    if (word('new-password') !== word('new-password-again')) throw new Error(text.security.differ);
    const body = { current_password: word('current-password'), new_password: word('new-password') };
    await ask(POST('/api/v1/me/password', { body }));
    notice(text.security.changed);
    form.value += 1;
    changed();
  };
  useAsked('password', () => document.getElementById('current-password')?.focus());
  const fresh = { type: 'password', autocomplete: 'new-password', minLength: 12, maxLength: 200 } as const;
  return (
    <section class="card password-change" id="password">
      <EntryForm key={form.value} title={text.security.password} submit={text.security.change} send={send} inner>
        <p class="hint">
          <Prose words={text.security.changeHint} />
        </p>
        <EntryField name="current-password" label={text.security.currentPassword} type="password" autocomplete="current-password" />
        <EntryField name="new-password" label={text.security.newPassword} hint={text.entry.passwordHint} {...fresh} />
        <EntryField name="new-password-again" label={text.security.again} {...fresh} />
      </EntryForm>
    </section>
  );
}
