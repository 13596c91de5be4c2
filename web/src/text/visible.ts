// Words from outside, made so that a reader sees what they are.

/** Shows the control characters of a text, and those without width, as a sign that can be seen. */
export function visible(words: string): string {
  return words.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Surrogate}/gu, '\u2423');
}

/** Shows a text in at most `most` code units, where there is no room for a long one. An ellipsis at its end tells that more of it was
 * left out, and no character is cut in half. */
export function brief(words: string, most = 100): string {
  if (words.length <= most) return visible(words);
  const end = most - 1;
  const isHalf = /[\ud800-\udbff]/.test(words.charAt(end - 1)) && /[\udc00-\udfff]/.test(words.charAt(end));
  return `${visible(words.slice(0, isHalf ? end - 1 : end))}…`;
}

/** How many characters of a sentence are shown: what is longer is no sentence. */
const MOST = 1_000;

/** Makes a sentence of a fragment that somebody else wrote: what cannot be seen has a sign, the first letter is a capital, and a full
 * stop is at its end unless it ends with one. */
export function sentence(words: string): string {
  const shown = brief(words, MOST);
  const begun = shown.charAt(0).toUpperCase() + shown.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}
