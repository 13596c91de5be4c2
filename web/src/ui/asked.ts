// Dialogs that an address asks for, as the palette does: `?open=create` opens the dialog `create` of its page.

import { useEffect } from 'preact/hooks';

import { change, query } from './router';

/** Calls `open` when the address asks for a dialog by its name. The wish then leaves the address: Back opens nothing. */
export function useAsked(name: string, open: () => void): void {
  const asked = query.value.get('open') === name;
  useEffect(() => {
    if (!asked) return;
    change({ open: null }, { replace: true });
    open();
  }, [asked]);
}
