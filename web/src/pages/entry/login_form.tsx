// The login, which keeps the address: after it, the page is the one that was asked for.

import { logIn } from '../../data/session';
import { text } from '../../text';
import { EntryField, EntryForm, isPlainHttp, PlainHttp } from '../../ui/entry_form';

/** Whether the backend is on the machine of the browser, where `link up` may have started it, without a password. */
function isThisMachine({ hostname }: Location): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

export function Login({ ended }: { ended: boolean }) {
  const send = (values: FormData): Promise<void> => logIn(String(values.get('email')).trim(), String(values.get('password')));
  return (
    <main class="login">
      {isPlainHttp(location) ? (
        <PlainHttp />
      ) : (
        <EntryForm
          title={text.login.title}
          submit={text.login.submit}
          send={send}
          after={
            isThisMachine(location) && (
              <p class="soft small">
                {text.login.own} <code>link open</code>
              </p>
            )
          }
        >
          {ended && <p class="soft">{text.login.ended}</p>}
          <EntryField name="email" label={text.login.email} type="email" autocomplete="username" />
          <EntryField name="password" label={text.login.password} type="password" autocomplete="current-password" />
        </EntryForm>
      )}
    </main>
  );
}
