// Settings: the allowlist of the account, how this browser shows times, the policy by which administrators of browsers
// allow the workspace, and the sessions and the password of the person at this page.


import { allowed } from '../../data/allowed';
import { me } from '../../data/store';
import { text } from '../../text';
import { Skeleton } from '../../ui/parts';
import { useTitle } from '../../ui/title';
import { AllowlistCard } from './allowlist';
import { DisplayCard } from './display';
import { NetworkCard } from './network';
import { Security } from './security';

import '../../ui/records.css';
import './settings.css';

export function SettingsPage() {
  useTitle(text.settings.title);
  const role = me.value?.role;
  return (
    <div class="page">
      <header class="page-head">
        <h1>{text.settings.title}</h1>
      </header>
      <div class="page-scroll settings">
        {role === undefined ? <Skeleton lines={6} /> : <AllowlistCard writes={allowed(role, 'settings:write')} />}
        <DisplayCard />
        <NetworkCard />
        <Security />
      </div>
    </div>
  );
}
