// An invitation: somebody who is logged in joins, and anybody else becomes a new person. `#TOKEN` in the address fills it.

import { useSignal } from '@preact/signals';

import { logOut, open, session } from '../../data/session';
import { me } from '../../data/store';
import { text } from '../../text';
import { EntryField, EntryForm, isPlainHttp, PlainHttp } from '../../ui/entry_form';
import { Filled } from '../../ui/filled';
import { Foreign } from '../../ui/parts';
import { go } from '../../ui/router';
import { useFragment } from './fragment';

export function InvitePage() {
  const token = useFragment();
  const typed = useSignal(token);
  const isIn = session.value === 'in';
  const send = async (values: FormData): Promise<void> => {
    const person = isIn ? {} : { email: String(values.get('email')).trim(), password: String(values.get('password')) };
    await open({ with: 'invitation', invitation_token: String(values.get('invitation')).trim(), ...person });
    go('/', { replace: true });
  };
  if (isPlainHttp(location)) {
    return (
      <main class="login">
        <PlainHttp />
      </main>
    );
  }
  return (
    <main class="login">
      <EntryForm title={text.entry.inviteTitle} submit={text.entry.join} send={send}>
        <EntryField name="invitation" label={text.entry.invitation} hint={text.entry.invitationHint} value={typed.peek()} />
        {isIn ? (
          <p>
            <Filled words={text.entry.joinAs} parts={{ person: <Foreign>{me.value?.email ?? ''}</Foreign> }} />{' '}
            <button type="button" class="button quiet" onClick={() => void logOut()}>
              {text.shell.logOut}
            </button>
          </p>
        ) : (
          <>
            <p class="soft">{text.entry.newPerson}</p>
            <EntryField name="email" label={text.login.email} type="email" autocomplete="username" />
            <EntryField
              name="password"
              label={text.login.password}
              hint={text.entry.passwordHint}
              type="password"
              autocomplete="new-password"
              minLength={12}
              maxLength={200}
            />
          </>
        )}
      </EntryForm>
    </main>
  );
}
