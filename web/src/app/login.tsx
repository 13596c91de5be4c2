// The login, which keeps the address: after it, the page is the one that was asked for.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { logIn } from '../data/session';
import { text } from '../text/en';

export function Login({ ended }: { ended: boolean }) {
  const failed = useSignal('');
  const busy = useSignal(false);
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const sent = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    failed.value = '';
    busy.value = true;
    try {
      await logIn(String(values.get('email')).trim(), String(values.get('password')));
    } catch (error) {
      failed.value = error instanceof Error ? error.message : text.problems.unknown;
    } finally {
      busy.value = false;
    }
  };
  return (
    <main class="login">
      <form class="entry" aria-labelledby="login-title" onSubmit={(event) => void sent(event)}>
        <h1 id="login-title">
          <img src="/assets/icon.svg" alt="" width="28" height="28" />
          {text.login.title}
        </h1>
        {ended && <p class="soft">{text.login.ended}</p>}
        <div class="field">
          <label for="email">{text.login.email}</label>
          <input ref={first} id="email" name="email" type="email" autocomplete="username" required />
        </div>
        <div class="field">
          <label for="password">{text.login.password}</label>
          <input id="password" name="password" type="password" autocomplete="current-password" required />
        </div>
        <p class="form-error" role="alert">
          {failed}
        </p>
        <button type="submit" class="button primary" disabled={busy}>
          {text.login.submit}
        </button>
        <p class="soft small">
          {text.login.setup} <a href="/#setup">{text.login.setupLink}</a>
        </p>
      </form>
    </main>
  );
}
