// Words of the page of settings.

import { plural } from './plural';

export const settings = {
  title: 'Settings',
  allowlist: 'Allowed origins',
  allowlistHint: 'Web pages of these origins may call a served model from a browser.',
  own: 'Origins of this account',
  noOwn: 'This account has no origin of its own.',
  defaults: 'Origins of this backend',
  defaultsHint: 'The configuration of the backend adds them for every account. Only its operator can change them.',
  noDefaults: 'The backend adds none.',
  add: 'Add an origin',
  addHint: 'Such as https://workspace.example: scheme and host, with the port unless it is the usual one. No path, no wildcard.',
  addOurs: (origin: string) => `Add ${origin}`,
  submit: 'Add',
  remove: (origin: string) => `Remove ${origin}`,
  removeTitle: 'Remove the origin',
  removeBody: (origin: string) => `Pages of ${origin} may call models until each deployment is repaired or redeployed; afterwards they are refused.`,
  removeAction: 'Remove the origin',
  added: (origin: string) => `${origin} was added.`,
  removed: (origin: string) => `${origin} was removed.`,
  known: 'This origin is on the list already.',
  conflict: 'Somebody else changed the list in the meantime. It is shown as it is now, and nothing was overwritten. Check it, then try again.',
  stale: (count: number) =>
    `${plural(count, 'deployment lacks', 'deployments lack')} an origin of this list. Until ${count === 1 ? 'it is' : 'they are'} repaired, pages of that origin cannot use ${count === 1 ? 'its model' : 'their models'}.`,
  becomes: (count: number) => `${plural(count, 'deployment', 'deployments')} will lack a new origin until repaired.`,
  repairAll: 'Repair all…',
  current: 'Every deployment has all of these origins.',
  failedTitle: 'The allowed origins could not be loaded',
  display: 'This browser',
  exactTimes: 'Exact times',
  exactTimesHint: (exact: string, relative: string) => `Such as ${exact} instead of ${relative}.`,
  network: 'Local network access',
  networkHint:
    'Browsers ask a person before a page may reach models on this computer or in the local network. An administrator of the browsers can allow it for the workspace in advance, so that nobody is asked.',
  policyOf: { chromium: 'Chrome, Edge and Chromium', firefox: 'Firefox' },
  policyChromium: 'Set this policy, for example as a file in /etc/opt/chrome/policies/managed/ (Linux) or as a group policy (Windows):',
  policyChromiumLabel: 'The policy',
  policyFirefox: 'Where Firefox asks, it asks for each origin: choose Allow and let Firefox remember the decision.',
  cancel: 'Cancel',
} as const;
