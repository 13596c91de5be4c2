// Row heights grow with the browser's font size, and for a finger.

import { signal } from '@preact/signals';

const media = matchMedia('(pointer: coarse)');

/** Whether the pointer is a finger (`pointer: coarse` in the style sheets), which needs more room than a mouse. */
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
