// Heights of rows grow with the text: who has set a larger font in the browser gets rows in which it fits.

/** Returns a height at the usual size of text, in pixels, as the present size makes it. The style sheets use `rem` for it. */
export function scaled(pixels: number): number {
  const size = parseFloat(getComputedStyle(document.documentElement).fontSize);
  return size > 0 ? (pixels * size) / 16 : pixels;
}
