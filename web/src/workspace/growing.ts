// Markdown that grows at its end, at a cost for each token that is the same from the first to the last. Pure: pieces in, steps
// of drawing out.
//
// A block that a later line has closed is settled: it is parsed once and never again. Only the open block is parsed anew. If
// it grows long, its finished parts (items, rows, words, lines of code) are parsed once too, and only its tail anew. What was
// parsed early can differ from the whole text parsed at once, as when a link is named below its use: `mended` finds that.

import type { Token, Tokens } from 'marked';

import { code, inline, lexed, rendered, wholeMarkup, type Links } from './markdown';
import { headOf, isDivisible, loosen, shellOf, type Divisible } from './parts';
import { readable } from './plain';

/** How many characters of the open block are parsed anew at each drawing, about. */
const LONG = 4_000;
/** How much a block without parts grows before it is parsed anew: all its parsings together are five times its length. */
const GROWTH = 1.25;
const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)\n/;

export type Step =
  /** The open block is drawn anew. */
  | { do: 'open'; markup: string }
  /** The open block is code, to which lines are added. */
  | { do: 'code'; markup: string }
  | { do: 'lines'; words: string }
  /** The open block is long: parts are added to it, each as the markup of a block of its own. */
  | { do: 'part'; type: Divisible; markup: string }
  /** What stands behind the parts, until the next one; `after` follows the block. */
  | { do: 'tail'; type: Divisible; markup: string; after: string }
  /** Words that are not parsed yet are added. */
  | { do: 'words'; words: string }
  /** A block is settled: the open one as it was drawn, or with this markup. */
  | { do: 'settle'; markup: string | null };

/** Blocks that differ from what was drawn. */
export interface Mended {
  at: number;
  remove: number;
  markup: string[];
}

/** A long block, whose head is parsed for good. */
interface Long {
  type: Divisible;
  /** Text to put before the tail so that it parses on its own. */
  prefix: string;
  head: string;
  /** Whether the items of a list are apart. */
  loose: boolean;
  /** The markup before the parts, and of the parts. */
  markup: string;
}

export class GrowingMarkdown {
  #all = '';
  /** What is not settled yet. */
  #tail = '';
  /** The end of an open code block, and its lines. */
  #fence: { close: RegExp; lang: string; lines: string[]; drawn: number } | null = null;
  #long: Long | null = null;
  readonly #links: Links = {};
  /** How much of the tail was found to be one block: it is looked at again when it has another line. */
  #whole = 0;
  /** How long a block without parts was when it was parsed, and how much of it was handed out. */
  #parsedAt = 0;
  #told = 0;
  /** Whether the open block is not to be cut again. */
  #undivided = false;
  /** The markup of the settled blocks. */
  readonly #blocks: string[] = [];
  #steps: Step[] = [];
  /** Whether anything was drawn before the text was whole. */
  #grew = false;
  /** How many characters were parsed so far: the cost of the text. */
  parsed = 0;

  /** Takes a piece. */
  push(piece: string): void {
    this.#all += piece;
    this.#tail += piece;
  }

  /** Returns the drawing steps for the pieces pushed since the last call. */
  grow(): Step[] {
    this.#grew ||= this.#all !== '';
    if (!this.#waits() && this.#advance()) this.#drawOpen();
    return this.#taken();
  }

  /** Settles the rest of a text that is whole. Returns the drawing steps for it. */
  close(): Step[] {
    this.#parsedAt = 0;
    // The end of a text ends its last line.
    if (this.#grew && !this.#tail.endsWith('\n')) this.#tail += '\n';
    if (this.#grew && !this.#advance()) this.#endFence();
    const tokens = this.#lex((this.#long?.prefix ?? '') + this.#tail);
    if (this.#long && this.#continues(tokens)) this.#endLong(tokens);
    else for (const token of this.#lex(this.#tail)) this.#settleToken(token);
    this.#tail = '';
    return this.#taken();
  }

  /** Compares what was drawn with the whole text parsed at once. Stops after each piece of that work. */
  *mended(): Generator<undefined, Mended[]> {
    if (!this.#grew) return [];
    const whole = yield* wholeMarkup(this.#all);
    const drawn = this.#blocks;
    if (whole.length === drawn.length) {
      return whole.flatMap((markup, at) => (markup === drawn[at] ? [] : [{ at, remove: 1, markup: [markup] }]));
    }
    const most = Math.min(whole.length, drawn.length);
    let [same, sameEnd] = [0, 0];
    while (same < most && whole[same] === drawn[same]) same += 1;
    while (sameEnd < most - same && whole.at(-1 - sameEnd) === drawn.at(-1 - sameEnd)) sameEnd += 1;
    return [{ at: same, remove: drawn.length - same - sameEnd, markup: whole.slice(same, whole.length - sameEnd) }];
  }

  #taken(): Step[] {
    const steps = this.#steps;
    this.#steps = [];
    return steps;
  }

  /** Tells whether the open block has no parts and has not grown enough to be parsed anew; then its words are handed out. */
  #waits(): boolean {
    if (this.#parsedAt === 0 || this.#tail.length > this.#parsedAt * GROWTH) return false;
    const words = readable(this.#tail.slice(this.#told));
    this.#told = this.#tail.length;
    if (words !== '') this.#steps.push({ do: 'words', words });
    return true;
  }

  /** Settles what later lines have closed. Returns whether a block other than code is open. */
  #advance(): boolean {
    for (;;) {
      if (this.#fence && !this.#readFence()) return false;
      this.#settle();
      if (this.#long || !this.#enterFence()) return true;
    }
  }

  /** Settles every block of the whole lines but the last one. */
  #settle(): void {
    const end = this.#tail.lastIndexOf('\n') + 1;
    if (end === this.#whole || (!this.#long && FENCE.test(this.#tail))) return;
    const prefix = this.#long?.prefix ?? '';
    const lines = readable(this.#tail.slice(0, end));
    this.#tail = lines + this.#tail.slice(end);
    this.#whole = lines.length;
    const tokens = this.#lex(prefix + lines);
    if (this.#long && !this.#continues(tokens)) return this.#settle();
    const last = tokens.findLastIndex(({ type }) => type !== 'space');
    if (last <= 0) return;
    const done = tokens.slice(0, last);
    const raw = done.map((token) => token.raw).join('');
    // The lexer's own text can differ from ours; then nothing is settled by its lengths.
    if (raw !== (prefix + lines).slice(0, raw.length)) return;
    if (this.#long) this.#endLong(done);
    else for (const token of done) this.#settleToken(token);
    this.#tail = this.#tail.slice(raw.length - prefix.length);
    this.#whole -= raw.length - prefix.length;
  }

  /** Tells whether tokens go on with the long block. If they do not, the block has no parts any more. */
  #continues([first]: readonly Token[]): boolean {
    const long = this.#long;
    if (!long) return true;
    const { type, prefix } = long;
    if (first === undefined || (first.type === type && (prefix === '' || first.raw.startsWith(prefix)))) return true;
    this.#tail = long.head + this.#tail;
    this.#long = null;
    this.#whole = 0;
    this.#undivided = true;
    return false;
  }

  /** Settles a long block, whose tail is the first of `tokens`, and the blocks that follow it. */
  #endLong([tail, ...others]: readonly Token[]): void {
    const long = this.#long;
    if (!long) return;
    this.#long = null;
    if (tail) this.#loose(long, tail);
    const markup = tail ? this.#fragment(long, tail) : '';
    const shell = shellOf(long.type, markup);
    if (shell) {
      this.#steps.push({ do: 'part', type: long.type, markup });
      this.#settleMarkup(long.markup + shell.parts + shell.after, true);
    } else {
      for (const token of this.#lex(long.head + (tail?.raw.slice(long.prefix.length) ?? ''))) this.#settleToken(token);
    }
    for (const token of others) this.#settleToken(token);
  }

  #settleToken(token: Token): void {
    if (token.type !== 'space') this.#settleMarkup(rendered(token, this.#links));
  }

  /** Settles a block, as it was `drawn` or anew. */
  #settleMarkup(markup: string, drawn = false): void {
    this.#parsedAt = 0;
    this.#undivided = false;
    if (markup === '') return;
    this.#blocks.push(markup);
    this.#steps.push({ do: 'settle', markup: drawn ? null : markup });
  }

  /** Begins an open code block if the tail is one. */
  #enterFence(): boolean {
    const begun = FENCE.exec(this.#tail);
    const [whole, marks, lang] = begun ?? [];
    if (!whole || !marks || (marks.startsWith('`') && lang?.includes('`'))) return false;
    const close = new RegExp(`^ {0,3}${marks[0]}{${marks.length},}[ \\t]*$`);
    this.#tail = this.#tail.slice(whole.length);
    this.#whole = 0;
    this.#fence = { close, lang: readable(lang?.trim() ?? ''), lines: [], drawn: 0 };
    return true;
  }

  /** Moves whole lines into the open code block. Returns whether one of them closes it. */
  #readFence(): boolean {
    const fence = this.#fence;
    if (!fence) return true;
    let from = 0;
    for (let end = this.#tail.indexOf('\n'); end !== -1; end = this.#tail.indexOf('\n', from)) {
      const line = this.#tail.slice(from, end);
      from = end + 1;
      if (fence.close.test(line)) {
        this.#tail = this.#tail.slice(from);
        this.#endFence();
        return true;
      }
      fence.lines.push(`${line}\n`);
    }
    this.#tail = this.#tail.slice(from);
    this.#drawLines();
    return false;
  }

  /** Settles the open code block. Its lines are drawn once. */
  #endFence(): void {
    const fence = this.#fence;
    if (!fence) return;
    const begun = fence.drawn > 0;
    if (begun) this.#drawLines();
    this.#fence = null;
    this.#settleMarkup(code(readable(fence.lines.join('')), fence.lang), begun);
  }

  #drawLines(): void {
    const fence = this.#fence;
    if (!fence || fence.drawn === fence.lines.length) return;
    if (fence.drawn === 0) this.#steps.push({ do: 'code', markup: code('', fence.lang) });
    this.#steps.push({ do: 'lines', words: readable(fence.lines.slice(fence.drawn).join('')) });
    fence.drawn = fence.lines.length;
  }

  /** Draws the open block, or its tail if it is long. */
  #drawOpen(): void {
    this.#parsedAt = 0;
    if (!this.#long && this.#tail === '') {
      this.#steps.push({ do: 'open', markup: '' });
      return;
    }
    let tokens = this.#lex((this.#long?.prefix ?? '') + this.#tail);
    if (this.#long && !this.#continues(tokens)) tokens = this.#lex(this.#tail);
    if (this.#tail.length > LONG) {
      const [first, ...others] = tokens.filter(({ type }) => type !== 'space');
      if (!this.#undivided && others.length === 0 && isDivisible(first) && this.#cut(first)) tokens = this.#lex((this.#long?.prefix ?? '') + this.#tail);
      if (this.#tail.length > LONG) {
        this.#parsedAt = this.#tail.length;
        this.#told = this.#tail.length;
      }
    }
    const [first, ...others] = tokens;
    const long = this.#long;
    if (!long) {
      this.#steps.push({ do: 'open', markup: this.#rendered(tokens) });
    } else {
      if (first) this.#loose(long, first);
      const markup = first ? this.#fragment(long, first) : '';
      this.#steps.push({ do: 'tail', type: long.type, markup, after: this.#rendered(others) });
    }
  }

  /** Parses all of the open block but its last part for good. Returns whether it has several parts. */
  #cut(token: Tokens.List | Tokens.Table | Tokens.Paragraph): boolean {
    const prefix = this.#long?.prefix ?? '';
    const head = headOf(token);
    if (!head || head.length <= prefix.length || !(prefix + this.#tail).startsWith(token.raw.slice(0, head.length))) return false;
    const long: Long = this.#long ?? { type: token.type, prefix: '', head: '', loose: false, markup: '' };
    if (token.type === 'list') this.#loose(long, token);
    const raw = token.raw.slice(prefix.length, head.length);
    const markup = head.token ? rendered(head.token, this.#links) : paragraph(inline(raw, this.#links));
    const shell = shellOf(token.type, markup);
    if (!shell) return false;
    this.#long = { ...long, prefix: head.prefix, head: long.head + raw, markup: (long.markup === '' ? shell.before : long.markup) + shell.parts };
    this.#tail = this.#tail.slice(raw.length);
    this.#whole = Math.max(0, this.#whole - raw.length);
    this.#steps.push({ do: 'part', type: token.type, markup });
    return true;
  }

  /** Makes the items of a long list and of its tail alike: apart or not. Returns whether those before the tail have changed. */
  #loose(long: Long, token: Token): boolean {
    if (token.type !== 'list' || long.type !== 'list') return false;
    const list = token as Tokens.List;
    if (long.loose && !list.loose) loosen(list);
    if (long.loose || !list.loose) return false;
    long.loose = true;
    const [head] = this.#lex(long.head);
    if (head?.type !== 'list') return false;
    loosen(head as Tokens.List);
    const markup = rendered(head, this.#links);
    const shell = shellOf('list', markup);
    if (!shell) return false;
    long.markup = shell.before + shell.parts;
    this.#steps.push({ do: 'open', markup: '' }, { do: 'part', type: 'list', markup });
    return true;
  }

  /** Returns the markup of the tail of a long block. */
  #fragment(long: Long, token: Token): string {
    if (long.type !== 'paragraph') return rendered(token, this.#links);
    return paragraph(inline((token as Tokens.Paragraph).text.slice(long.prefix.length), this.#links));
  }

  #rendered(tokens: readonly Token[]): string {
    return tokens.map((token) => (token.type === 'space' ? '' : rendered(token, this.#links))).join('');
  }

  #lex(words: string): Token[] {
    this.parsed += words.length;
    const tokens = lexed(words);
    for (const [name, link] of Object.entries(tokens.links)) this.#links[name] ??= link;
    return tokens;
  }
}

function paragraph(markup: string): string {
  return `<p dir="auto">${markup}</p>\n`;
}
