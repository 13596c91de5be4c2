// Text of a model as a person can read it: signs that cannot be seen are shown. Pure.

const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Surrogate}/gu;
/** Joiners, which scripts and emoji need between two signs. Elsewhere they hide something. */
const JOINERS = /(?<![\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])[\u200c\u200d]|[\u200c\u200d](?![\p{L}\p{M}\p{Extended_Pictographic}])/gu;
const SIGN = '\u2423';

/** Shows control characters, and those without width, as a sign. Lines, tabs and joiners inside words stay. */
export function readable(words: string): string {
  return words.replace(/\r\n?/g, '\n').replace(HIDDEN, SIGN).replace(JOINERS, SIGN);
}

/** A sentence that has no end is cut after so many characters, at a space. */
const LONGEST_SENTENCE = 600;
const ENDS = /[.!?…。！？]["'”’)\]]*(?=\s)|\n/gu;

/** Cuts a growing text into whole sentences, each handed out once. */
export class Sentences {
  #rest = '';

  /** Takes a piece, and returns the sentences that it completes. */
  push(piece: string): string {
    this.#rest += piece;
    let end = 0;
    for (const found of this.#rest.matchAll(ENDS)) end = found.index + found[0].length;
    if (this.#rest.length - end > LONGEST_SENTENCE) end = Math.max(end, this.#rest.lastIndexOf(' ') + 1);
    const whole = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end);
    return spoken(whole);
  }

  /** Returns what is left. */
  end(): string {
    const rest = this.#rest;
    this.#rest = '';
    return spoken(rest);
  }
}

/** Returns a text without the signs of Markdown, on one line. */
function spoken(words: string): string {
  return words.replace(/[`*_#>|~]+/g, ' ').replace(/\s+/g, ' ').trim();
}
