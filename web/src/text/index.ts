// The words of the pages in the language that the reader prefers. A further language is a line of `LANGUAGES`; the whole
// page has one language, which is chosen when it is loaded.

import { english } from './en';
import type { Language } from './language';
import { pseudo, PSEUDO } from './pseudo';

const ENGLISH = 'en';

/** The languages, by their BCP 47 tags. The pseudo-language is for development and tests; a build leaves it out. */
const LANGUAGES: Readonly<Record<string, () => Language>> = {
  [ENGLISH]: () => english,
  ...(import.meta.env.DEV ? { [PSEUDO]: () => pseudo(english) } : {}),
};

/** Returns the tag of the first language of `wanted` that the pages have, also for a region of it; else that of English. */
export function languageOf(wanted: readonly string[]): string {
  const tags = wanted.flatMap((tag) => [tag, tag.split('-')[0] ?? tag]);
  return tags.find((tag) => Object.hasOwn(LANGUAGES, tag)) ?? ENGLISH;
}

/** Returns the tag by which times are written: the words of `language`, in the order of the first region that is named. */
export function localeOf(language: string, wanted: readonly string[]): string {
  const region = wanted.map(regionOf).find((one) => one !== undefined);
  return region === undefined ? language : `${new Intl.Locale(language).language}-${region}`;
}

/** Chromium names a machine without a language `en-US@posix`, which is not a tag. */
function regionOf(tag: string): string | undefined {
  try {
    return new Intl.Locale(tag).region;
  } catch {
    return undefined;
  }
}

/** The language of the page, in which numbers are written too. */
export const language = languageOf(navigator.languages);
/** The language and, if known, the region of the reader: a day is written in one order on every page. */
export const locale = localeOf(language, navigator.languages);
export const text: Language = (LANGUAGES[language] ?? (() => english))();
document.documentElement.lang = language;
