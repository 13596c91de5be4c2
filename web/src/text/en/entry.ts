// Words of the pages that let people and machines in, and of the page about sessions.

import { plural } from './plural';

export const entry = {
  setupTitle: 'Set up the first account',
  setupToken: 'Setup token',
  setupTokenHint: 'It is in the file setup-token of the backend’s data folder, on the server that runs it.',
  passwordHint: '12 to 200 characters.',
  create: 'Create the account',
  haveAccount: 'Already set up?',
  wait: (seconds: number) => `Too many attempts. Wait ${seconds > 60 ? plural(Math.ceil(seconds / 60), 'minute', 'minutes') : plural(seconds, 'second', 'seconds')}, then try again.`,
  waited: 'You can try again.',
  farewell: {
    trying: 'You are logged out here, but the backend could not be told and still has your session. Trying again… Leave this page open.',
    failed: 'You are logged out here, but the backend could not be told and may still have your session. When the backend answers again, log in here and log out once more, or end the session in another browser under Settings. An unused session ends after a week.',
  },
  plainTitle: 'This address is not safe for a login',
  plain: 'You have opened Link over plain http on the network. Everybody between this browser and the backend could read your password and take over your login, so the backend logs nobody in here.',
  plainCures: [
    'Open the backend at its https address. Its operator sets the address as public_url.',
    'On the backend’s own machine, open it at http://127.0.0.1 with its port.',
    'From another machine, forward a port with ssh -L 8000:127.0.0.1:8000, then open http://127.0.0.1:8000.',
  ],
  inviteTitle: 'Accept an invitation',
  invitation: 'Invitation',
  invitationHint: 'It begins with lit_. The person who invited you has it.',
  newPerson: 'This creates your account on this backend.',
  join: 'Join',
  joinAs: 'You join as {person}. To join as somebody else, log out first.',
} as const;

export const machine = {
  title: 'Approve a login',
  code: 'Code',
  codeHint: 'The machine shows it, such as WDJB-MJHT.',
  next: 'Continue',
  question: 'Is this your machine?',
  asks: '{machine} wants to log in as {person} and shows this code:',
  from: 'The request came from {address} on {when}.',
  gets: 'If you allow it, the machine can do everything that you can do in this account, until you end its session.',
  careful: 'Allow it only if you started this yourself and the machine shows the same code.',
  allow: 'Allow',
  refuse: 'Refuse',
  allowed: 'The machine is logged in',
  refused: 'The machine was refused',
  close: 'You can close this page.',
} as const;

export const security = {
  sessions: 'Your sessions',
  sessionsHint: 'Browsers and programs that are logged in as you. End what you do not know.',
  browser: 'Browser',
  program: 'Program',
  current: 'This browser',
  used: 'Used {when} from {address}',
  created: 'Logged in {when} {how}',
  unknownAddress: 'an unknown address',
  login: {
    'login.password': 'with the password',
    'login.device': 'allowed on the page for machines',
    'login.owner': 'with link up',
    'login.code': 'with link open',
    'login.account': 'from another account',
  } as Record<string, string>,
  end: 'End',
  endThis: (name: string) => `End the session of ${name}`,
  ended: 'The session has ended.',
  endOthers: 'End all other sessions',
  endedOthers: 'All other sessions have ended.',
  failed: 'Your sessions could not be loaded',
  password: 'Change your password',
  currentPassword: 'Current password',
  newPassword: 'New password',
  again: 'New password again',
  differ: 'The two new passwords differ.',
  change: 'Change the password',
  changed: 'Your password was changed, and all other sessions have ended. Your API tokens still work: revoke any that you did not create or that somebody else may know.',
  changeHint:
    'All other sessions end. Your API tokens stay valid. The owner of a backend of `link up` has no password at first: `link account password` sets one.',
} as const;
