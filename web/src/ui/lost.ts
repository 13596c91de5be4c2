// A dialog goes with the permission that it needs, and does not come back with it.

import { useLayoutEffect } from 'preact/hooks';

/** Calls `close` when what was allowed is so no more. */
export function useLost(allowed: boolean, close: () => void): void {
  useLayoutEffect(() => {
    if (!allowed) close();
  }, [allowed]);
}
