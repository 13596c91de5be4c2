// Words from outside, made so that a reader sees what they are.

/** Shows the control characters of a text, and those without width, as a sign that can be seen. */
export function visible(words: string): string {
  return words.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Surrogate}/gu, '\u2423');
}

/** Shows a name within a label, which has no room for a long one. */
export function brief(name: string): string {
  return visible(name.slice(0, 100));
}

/** How many characters of a sentence are shown: what is longer is no sentence. */
const MOST = 1_000;

/** Makes a sentence of a fragment that somebody else wrote: what cannot be seen has a sign, the first letter is a capital, and a full
 * stop is at its end unless it ends with one. */
export function sentence(words: string): string {
  const shown = visible(words.slice(0, MOST));
  const begun = shown.charAt(0).toUpperCase() + shown.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}
