// What is shown: the login, or the shell with the page of the address once the login of the tab is known to be good.

import { session } from '../data/session';
import { Notices } from '../ui/notices';
import { Skeleton } from '../ui/parts';
import { Login } from './login';
import { Page } from './pages';
import { Shell } from './shell';

export function App() {
  const state = session.value;
  return (
    <>
      {(state === 'in' || state === 'unknown') && <Shell>{state === 'in' ? <Page /> : <Skeleton lines={8} />}</Shell>}
      {(state === 'out' || state === 'ended') && <Login ended={state === 'ended'} />}
      <Notices />
    </>
  );
}
