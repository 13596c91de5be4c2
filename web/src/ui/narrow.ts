// Whether the screen is narrow, as the style sheets mean it.

import { signal } from '@preact/signals';

const media = matchMedia('(max-width: 800px)');

export const narrow = signal(media.matches);

media.addEventListener('change', () => {
  narrow.value = media.matches;
});
