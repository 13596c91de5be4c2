// Closes a dialog when its permission is lost. It stays closed if the permission returns.

import { useLayoutEffect } from 'preact/hooks';

/** Calls `close` when `allowed` is false. */
export function useLost(allowed: boolean, close: () => void): void {
  useLayoutEffect(() => {
    if (!allowed) close();
  }, [allowed]);
}
