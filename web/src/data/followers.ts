// Who follows the event stream of the account beside the store: lists that only some pages show.

import type { Change } from './stream';

export interface Follower {
  /** Takes one change, of whatever kind. */
  changed: (change: Change) => void;
  /** Loads anew what is shown, since changes may have been missed. */
  reload: () => void;
  /** Forgets everything, since the login has ended. */
  clear: () => void;
}

export const followers = new Set<Follower>();
