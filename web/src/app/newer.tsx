// Offers a reload when the backend has newer pages, and warns of text that a reload would lose.

import { useSignal } from '@preact/signals';

import { outdated } from '../data/edition';
import { text } from '../text';
import { Icon } from '../ui/icon';

export function Newer() {
  const warned = useSignal(false);
  const reload = (): void => {
    if (!warned.peek() && unsent() !== null) {
      warned.value = true;
      unsent()?.focus();
    } else {
      location.reload();
    }
  };
  return (
    <div role="status">
      {outdated.value && (
        <div class="banner quiet newer">
          <Icon name="warning" />
          <p>{warned.value ? text.shell.newerLoses : text.shell.newer}</p>
          <button type="button" class="button" onClick={reload}>
            {warned.value ? text.shell.reloadAnyway : text.shell.reload}
          </button>
        </div>
      )}
    </div>
  );
}

/** Returns a field whose text a reload would lose. A field with `data-kept` has its text in the storage of the browser. */
export function unsent(): HTMLElement | null {
  const fields = document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('textarea, input');
  for (const field of fields) {
    const typed = field instanceof HTMLTextAreaElement || ['text', 'email', 'password', 'number', 'url'].includes(field.type);
    if (typed && !('kept' in field.dataset) && field.value.trim() !== '' && field.value !== field.defaultValue) return field;
  }
  return null;
}
