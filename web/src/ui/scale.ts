// Heights of rows grow with the text: who has set a larger font in the browser gets rows in which it fits. They grow for a finger too.

import { signal } from '@preact/signals';

const media = matchMedia('(pointer: coarse)');

/** Whether the screen is touched, as the style sheets mean it: a finger needs more room than a mouse. */
export const touched = signal(media.matches);

media.addEventListener('change', () => {
  touched.value = media.matches;
});

/** Returns the height of the heads of the columns of a list, with the lines around them, in pixels. */
export function headHeight(): number {
  return scaled(touched.value ? 47 : 41);
}

/** Returns a height at the usual size of text, in pixels, as the present size makes it. The style sheets use `rem` for it. */
export function scaled(pixels: number): number {
  const size = parseFloat(getComputedStyle(document.documentElement).fontSize);
  return size > 0 ? (pixels * size) / 16 : pixels;
}
