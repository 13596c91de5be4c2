// Numbers that stay beside their units: at the end of a line, a number alone says nothing.

/** Joins each number with the word after it, in words that the browser made. */
export function unbroken(words: string): string {
  return words.replace(/(\d) /g, '$1\u00a0');
}
