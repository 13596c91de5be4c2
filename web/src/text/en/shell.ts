// Words of the frame around every page: the side bar, the login, the palette, dialogs and failures.

import { plural } from './plural';

export const problems = {
  status: (status: number) => `The backend answered with status ${status}.`,
  unreachable: 'The backend does not answer. Check that it is running and reachable.',
  unreadable: 'The answer is not the backend’s: it is cut off, or a proxy answered in its place.',
  unknown: 'Something went wrong on this page.',
  retry: 'Try again',
  retryIn: (seconds: number) => `Retry after ${plural(seconds, 'second', 'seconds')}.`,
  request: (id: string) => `Request ${id}`,
} as const;

export const shell = {
  skip: 'Skip to the content',
  pages: 'Pages',
  menu: 'Open the menu',
  closeMenu: 'Close the menu',
  search: 'Search…',
  searchKeys: 'Ctrl K',
  devices: 'Devices',
  workspace: 'Workspace',
  api: 'API reference',
  logOut: 'Log out',
  notices: 'Notices',
  dismiss: 'Close this notice',
  role: { owner: 'Owner', admin: 'Admin', operator: 'Operator', viewer: 'Viewer' },
  live: 'Live',
  connecting: 'Connecting…',
  lost: (seconds: number) => `What you see is ${plural(seconds, 'second', 'seconds')} old. Reconnecting…`,
  cut: 'What you see may be out of date. Reconnecting…',
  unreachable: 'The backend is unreachable. Trying again…',
  missingTitle: 'Page not found',
  missing: 'This address has no page.',
  loading: 'Loading…',
  outdatedTitle: 'A part of the page could not be loaded',
  outdated: 'The backend may have a newer version of this page. Reload the page.',
  reload: 'Reload the page',
  newer: 'The backend has a newer version of these pages.',
  newerLoses: 'A field has text that a reload loses. Send or copy the text first.',
  reloadAnyway: 'Reload anyway',
} as const;

export const login = {
  title: 'Log in',
  ended: 'Your session has ended. Log in again to continue where you left off.',
  email: 'E-mail',
  password: 'Password',
  submit: 'Log in',
  own: 'If you have no password yet, run this command on the machine of the backend:',
} as const;

export const palette = {
  title: 'Search and go to',
  placeholder: 'Device, model or page',
  none: 'Nothing has this name.',
  page: 'Page',
  device: 'Device',
  model: 'Model',
  action: 'Action',
  deploy: (model: string) => `Deploy ${model}…`,
  stale: 'Show stale deployments',
  results: (count: number) => plural(count, 'result', 'results'),
  more: (count: number) => `${count.toLocaleString('en')} more: type more of the name.`,
} as const;

export const dialog = { close: 'Close', cancel: 'Cancel' } as const;
