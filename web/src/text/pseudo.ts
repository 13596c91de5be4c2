// A language for tests, made of English: accents, brackets, and a third more length. On a page in this language, a word
// that is not taken from `src/text` is plain, and a sentence that is put together by code has several pairs of brackets.

import type { Language } from './language';

/** The tag that Unicode has for an accented pseudo-language of English. */
export const PSEUDO = 'en-XA';

// A build leaves this file out, since no part of it runs before it is used.
const PLAIN = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const ACCENTED = 'áƀçđéƒǧħíĵķľɱñóƥɋřšťúṽŵẋýžÁɃÇĐÉƑǦĦÍĴĶĽṀÑÓƤɊŘŠŤÚṼŴẊÝŽ';
/** Stand around a value while it is in a sentence; no page has them. */
const BEGIN = '\ue000';
const END = '\ue001';
/** A value of a sentence, or the name of a value that is filled in later: neither is a word of the language. */
const KEPT = /(\ue000[^]*?\ue001|\{\w+\})/;

/** Returns the pseudo-language. The values of a sentence stay as they are. */
export function pseudo(words: Language): Language {
  return changed(words) as Language;
}

function changed(words: unknown): unknown {
  if (typeof words === 'string') return accented(words);
  if (typeof words === 'function') {
    return (...values: unknown[]) => changed(words(...values.map((value) => (typeof value === 'string' ? BEGIN + value + END : value))) as unknown);
  }
  if (Array.isArray(words)) return words.map(changed);
  if (typeof words === 'object' && words !== null) return Object.fromEntries(Object.entries(words).map(([name, one]) => [name, changed(one)]));
  return words;
}

function accented(words: string): string {
  const pieces = words.split(KEPT).map((piece, place) => (place % 2 === 1 ? piece : piece.replace(/[a-z]/gi, (letter) => ACCENTED[PLAIN.indexOf(letter)] ?? letter)));
  const longer = '~'.repeat(Math.ceil(words.length * 0.3));
  return `[${pieces.join('').replaceAll(BEGIN, '').replaceAll(END, '')} ${longer}]`;
}
