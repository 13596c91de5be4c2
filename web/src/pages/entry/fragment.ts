// The secret or the code behind the `#` of an address.

import { useLayoutEffect, useState } from 'preact/hooks';

/** Returns what stands behind the `#`, also once another address of this page is opened in its place. Removes it from the address:
 * neither the history nor a reload has it. */
export function useFragment(): string {
  const [found, find] = useState(taken);
  // At once: an effect after the drawing would miss an address that is opened in between.
  useLayoutEffect(() => {
    const again = (): void => {
      const words = taken();
      if (words !== '') find(words);
    };
    addEventListener('hashchange', again);
    return () => removeEventListener('hashchange', again);
  }, []);
  return found;
}

function taken(): string {
  const words = location.hash.slice(1);
  if (words !== '') history.replaceState(history.state, '', location.pathname + location.search);
  try {
    return decodeURIComponent(words).slice(0, 200);
  } catch {
    return '';
  }
}
