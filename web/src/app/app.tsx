// What is shown: a page that lets people in, the login, or the shell with the page of the address once the login of the
// browser is known to be good.

import { session } from '../data/session';
import { Notices } from '../ui/notices';
import { Skeleton } from '../ui/parts';
import { Login } from './login';
import { Page } from './pages';
import { path } from './router';
import { isOpen, pageAt } from './routes';
import { Shell } from './shell';

export function App() {
  const state = session.value;
  if (isOpen(pageAt(path.value))) {
    return (
      <>
        {state === 'unknown' ? <Skeleton lines={4} /> : <Page />}
        <Notices />
      </>
    );
  }
  return (
    <>
      {(state === 'in' || state === 'unknown') && <Shell>{state === 'in' ? <Page /> : <Skeleton lines={8} />}</Shell>}
      {(state === 'out' || state === 'ended') && <Login ended={state === 'ended'} />}
      <Notices />
    </>
  );
}
