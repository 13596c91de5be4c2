// Words with a plain space wherever the pages hold a number and its unit together.

export function spaced(words: string | null | undefined): string {
  return (words ?? '').replaceAll('\u00a0', ' ');
}
