// Who else follows the stream of the account: pages whose lists are loaded only while they are open.

import type { Change } from './stream';

export interface Listener {
  /** Takes one change. */
  changed: (change: Change) => void;
  /** Loads anew, since changes may have been missed. */
  reload: () => void;
}

export const listeners = new Set<Listener>();
