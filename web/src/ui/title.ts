// What the tab is called: the page, then the product.

import { useEffect } from 'preact/hooks';

import { text } from '../text';

/** Calls the tab after what is shown, unless `words` are `null`. */
export function useTitle(words: string | null): void {
  useEffect(() => {
    if (words !== null) document.title = `${words} – ${text.product}`;
  }, [words]);
}
