// What a language of the pages is: the words of English with other texts. One that lacks a word does not compile.

import type { english } from './en';

type Same<T> = T extends string
  ? string
  : T extends (...values: infer Values) => infer Words
    ? (...values: Values) => Same<Words>
    : { readonly [Key in keyof T]: Same<T[Key]> };

export type Language = Same<typeof english>;
