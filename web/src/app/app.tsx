// What is shown: a page that lets people in, the login, or the shell with the page of the address once the login of the
// browser is known to be good.

import { session } from '../data/session';
import { Login } from '../pages/entry/login_form';
import { isOpen, pageAt } from '../ui/addresses';
import { Notices } from '../ui/notices';
import { path } from '../ui/router';
import { Awaited, Page } from './pages';
import { Shell } from './shell';

export function App() {
  const state = session.value;
  const name = pageAt(path.value);
  if (isOpen(name)) {
    return (
      <>
        {state === 'unknown' ? <Awaited name={name} /> : <Page />}
        <Notices />
      </>
    );
  }
  return (
    <>
      {(state === 'in' || state === 'unknown') && <Shell>{state === 'in' ? <Page /> : <Awaited name={name} />}</Shell>}
      {(state === 'out' || state === 'ended') && <Login ended={state === 'ended'} />}
      <Notices />
    </>
  );
}
