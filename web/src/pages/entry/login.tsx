// The login as a page of its own: `?next=` is the page to go on to, of this origin alone.

import { useEffect } from 'preact/hooks';

import { session } from '../../data/session';
import { safeNext } from '../../ui/entry_form';
import { go, query } from '../../ui/router';
import { Login } from './login_form';

export function LoginPage() {
  const state = session.value;
  useEffect(() => {
    if (state === 'in') go(safeNext(query.peek().get('next')), { replace: true });
  }, [state]);
  return state === 'in' ? null : <Login ended={state === 'ended'} />;
}
