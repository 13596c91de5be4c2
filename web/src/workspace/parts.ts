// Long blocks in parts: which blocks can be parsed part by part, where they are cut, and what of their markup is a part. Pure.

import type { Token, Tokens } from 'marked';

/** The kinds of blocks that have parts: items, rows, words. */
export type Divisible = 'list' | 'table' | 'paragraph';

/** The markup before the parts, the parts, and the markup behind them. */
const SHELLS: Readonly<Record<Divisible, RegExp>> = {
  list: /^(<[uo]l[^>]*>\n)([^]*)(<\/[uo]l>\n)$/,
  table: /^(<table>\n<thead>[^]*?<tbody>)([^]*)(<\/tbody><\/table>\n)$/,
  paragraph: /^(<p dir="auto">)([^]*)(<\/p>\n)$/,
};
/** How many characters before the end of a paragraph are not cut off. */
const UNCUT = 200;
/** Where a paragraph could be cut, and what begins and ends something in it. */
const SIGNS = / |`+|\*+|_+|~+|\[|\]/g;

export interface Shell {
  before: string;
  parts: string;
  after: string;
}

export function isDivisible(token: Token | undefined): token is Tokens.List | Tokens.Table | Tokens.Paragraph {
  return token?.type === 'list' || token?.type === 'table' || token?.type === 'paragraph';
}

/** Takes the markup of a block apart, if it has parts. */
export function shellOf(type: Divisible, markup: string): Shell | null {
  const [, before, parts, after] = SHELLS[type].exec(markup) ?? [];
  return before === undefined || parts === undefined || after === undefined ? null : { before, parts, after };
}

/** Draws the items of a list apart, as the items of a longer list are. */
export function loosen(list: Tokens.List): void {
  list.loose = true;
  for (const item of list.items) {
    item.loose = true;
    for (const token of item.tokens) if (token.type === 'text') token.type = 'paragraph';
  }
}

/** A block up to its last part. */
export interface Head {
  /** How many characters of the block it has. */
  length: number;
  /** Its token; a paragraph is cut in its text. */
  token: Token | null;
  /** Text to put before its last part so that it parses on its own. */
  prefix: string;
}

/** Cuts a block before its last part, if it has several. */
export function headOf(token: Token): Head | null {
  if (token.type === 'list') {
    const { items } = token as Tokens.List;
    const length = items.slice(0, -1).reduce((sum, { raw }) => sum + raw.length, 0);
    return length === 0 ? null : { length, token: { ...token, items: items.slice(0, -1) } as Token, prefix: '' };
  }
  if (token.type === 'table') {
    const { rows, raw } = token as Tokens.Table;
    const [, prefix = ''] = /^([^\n]*\n[^\n]*\n)/.exec(raw) ?? [];
    const length = raw.trimEnd().lastIndexOf('\n') + 1;
    return rows.length < 2 || length <= prefix.length ? null : { length, token: { ...token, rows: rows.slice(0, -1) } as Token, prefix };
  }
  // A letter before the tail keeps its first characters from starting another block.
  const length = token.type === 'paragraph' ? cutOf(token.raw) : 0;
  return length === 0 ? null : { length, token: null, prefix: 'x' };
}

/** Returns where the words of a paragraph are cut: after a space outside of emphasis, code and links if there is one. */
export function cutOf(words: string): number {
  const open = new Set<string>();
  const most = words.length - UNCUT;
  let [outside, any] = [0, 0];
  for (const { 0: sign, index } of words.matchAll(SIGNS)) {
    const behind = index + sign.length;
    if (behind > most) break;
    const [before, after] = [words[index - 1] ?? ' ', words[behind] ?? ' '];
    if (sign === ' ') {
      if (/\s/.test(before + after)) continue;
      any = behind;
      if (open.size === 0) outside = any;
    } else if (sign === '[') {
      open.add(sign);
    } else if (sign === ']') {
      open.delete('[');
    } else if (!(/\s/.test(before) && /\s/.test(after)) && !(sign === '_' && /\w/.test(before) && /\w/.test(after))) {
      // Signs of emphasis and code: the same ones end what they begin.
      if (!open.delete(sign)) open.add(sign);
    }
  }
  return outside > most / 4 ? outside : any;
}
