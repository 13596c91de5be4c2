// The secret or the code behind the `#` of an address.

import { useState } from 'preact/hooks';

/** Returns what stands behind the `#`, and removes it from the address: neither the history nor a reload has it. */
export function useFragment(): string {
  const [found] = useState(() => {
    const words = location.hash.slice(1);
    if (words !== '') history.replaceState(history.state, '', location.pathname + location.search);
    try {
      return decodeURIComponent(words).slice(0, 200);
    } catch {
      return '';
    }
  });
  return found;
}
