// The login as a page of its own: `?next=` is the page to go on to, of this origin alone.

import { useEffect } from 'preact/hooks';

import { safeNext } from '../../app/entry';
import { Login } from '../../app/login';
import { session } from '../../data/session';
import { go, query } from '../../ui/router';

export function LoginPage() {
  const state = session.value;
  useEffect(() => {
    if (state === 'in') go(safeNext(query.peek().get('next')), { replace: true });
  }, [state]);
  return state === 'in' ? null : <Login ended={state === 'ended'} />;
}
