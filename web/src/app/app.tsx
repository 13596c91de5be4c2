// What is shown: the login, or the shell with the page of the address.

import { session } from '../data/session';
import { Notices } from '../ui/notices';
import { Login } from './login';
import { Page } from './pages';
import { Shell } from './shell';

export function App() {
  const state = session.value;
  return (
    <>
      {state === 'in' && (
        <Shell>
          <Page />
        </Shell>
      )}
      {(state === 'out' || state === 'ended') && <Login ended={state === 'ended'} />}
      <Notices />
    </>
  );
}
