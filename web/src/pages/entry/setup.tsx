// The first account of a backend. `#TOKEN` in the address fills the setup token; no browser sends that part.

import { useEffect } from 'preact/hooks';

import { open, session } from '../../data/session';
import { text } from '../../text';
import { EntryField, EntryForm, isPlainHttp, PlainHttp } from '../../ui/entry_form';
import { go } from '../../ui/router';
import { useFragment } from './fragment';

export function SetupPage() {
  const token = useFragment();
  const state = session.value;
  useEffect(() => {
    if (state === 'in') go('/', { replace: true });
  }, [state]);
  const send = (values: FormData): Promise<void> =>
    open({
      with: 'setup',
      setup_token: String(values.get('setup-token')).trim(),
      email: String(values.get('email')).trim(),
      password: String(values.get('password')),
    });
  return (
    <main class="login">
      {isPlainHttp(location) ? (
        <PlainHttp />
      ) : (
        <EntryForm
          title={text.entry.setupTitle}
          submit={text.entry.create}
          send={send}
          after={
            <p class="soft small">
              {text.entry.haveAccount} <a href="/login">{text.login.title}</a>
            </p>
          }
        >
          <EntryField name="setup-token" label={text.entry.setupToken} hint={text.entry.setupTokenHint} value={token} />
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
        </EntryForm>
      )}
    </main>
  );
}
