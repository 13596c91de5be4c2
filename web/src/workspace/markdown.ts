// Markdown of a model becomes markup that is safe after sanitising. Pure: text in, markup out.
//
// An answer that grows is cut into blocks. A block that a later line has closed is settled: it is parsed once and never
// again. Only the open block is parsed anew, and the lines of an open code block are not parsed at all.

import { Marked, type Token, type TokensList } from 'marked';

import { readable } from './plain';

/** Headings of an answer stand below those of the page. */
const HEADING_OFFSET = 3;
const LINK = /^(?:https?:\/\/|mailto:)/i;
const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)\n/;

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    heading({ tokens, depth }) {
      const level = Math.min(depth + HEADING_OFFSET, 6);
      return `<h${level} dir="auto">${this.parser.parseInline(tokens)}</h${level}>\n`;
    },
    paragraph({ tokens }) {
      return `<p dir="auto">${this.parser.parseInline(tokens)}</p>\n`;
    },
    code({ text, lang }) {
      return code(text, lang ?? '');
    },
    // Markup of the model is text.
    html({ text }) {
      return /^<br\s*\/?>$/i.test(text.trim()) ? '<br>' : escaped(text);
    },
    // Nothing is fetched from elsewhere: a picture is a link to it.
    image({ href, text }) {
      const words = text === '' ? href : text;
      return LINK.test(href) ? link(href, escaped(words)) : escaped(words);
    },
    link({ href, tokens }) {
      const words = this.parser.parseInline(tokens);
      return LINK.test(href) ? link(href, words) : words;
    },
    checkbox({ checked }) {
      return checked ? '☑ ' : '☐ ';
    },
  },
});

/** Returns the markup of a whole text. */
export function markup(words: string): string {
  return marked.parser(marked.lexer(readable(words)));
}

/** What a piece has changed: blocks that are settled, and the open block in markup or, in a code block, as plain lines. */
export interface Growth {
  settled: string[];
  open: string;
  /** Lines that were added to the open code block; `null` outside of one. */
  lines: string | null;
}

/** A text that grows at its end. */
export class GrowingMarkdown {
  /** What is not settled yet. */
  #tail = '';
  /** The end of an open code block, and how many characters of it were handed out. */
  #fence: { close: RegExp; lang: string; body: string; told: number } | null = null;
  #links: TokensList['links'] = {};
  /** How much of the tail was found to be one block: it is looked at again when it has another line. */
  #whole = 0;
  /** How many characters were parsed so far: the cost of the text. */
  parsed = 0;

  /** Takes a piece. */
  push(piece: string): void {
    this.#tail += piece;
  }

  /** Returns what the pieces since the last call have changed. */
  grow(): Growth {
    const settled: string[] = [];
    for (;;) {
      if (this.#fence) {
        const closed = this.#readFence();
        if (closed === null) return { settled, open: '', lines: this.#lines() };
        settled.push(closed);
      }
      settled.push(...this.#settle());
      if (!this.#enterFence()) break;
    }
    return { settled, open: this.#render(this.#tail), lines: null };
  }

  /** Returns the language of the open code block. */
  get language(): string {
    return this.#fence?.lang ?? '';
  }

  /** Settles every block of the whole lines but the last one. */
  #settle(): string[] {
    const end = this.#tail.lastIndexOf('\n') + 1;
    if (end === this.#whole || FENCE.test(this.#tail)) return [];
    const lines = readable(this.#tail.slice(0, end));
    this.#tail = lines + this.#tail.slice(end);
    this.#whole = lines.length;
    const tokens = this.#lex(lines);
    const last = tokens.findLastIndex(({ type }) => type !== 'space');
    if (last <= 0) return [];
    const done = tokens.slice(0, last);
    const length = done.reduce((sum, { raw }) => sum + raw.length, 0);
    // The lexer's own text can differ from ours, as with tabs; then nothing is settled by its lengths.
    if (done.map(({ raw }) => raw).join('') !== lines.slice(0, length)) return [];
    this.#tail = this.#tail.slice(length);
    this.#whole -= length;
    return done.filter(({ type }) => type !== 'space').map((token) => this.#parse([token]));
  }

  /** Begins an open code block if the tail is one. */
  #enterFence(): boolean {
    const begun = FENCE.exec(this.#tail);
    const [whole, marks, lang] = begun ?? [];
    if (!whole || !marks || (marks.startsWith('`') && lang?.includes('`'))) return false;
    const close = new RegExp(`^ {0,3}${marks[0]}{${marks.length},}[ \\t]*$`);
    this.#tail = this.#tail.slice(whole.length);
    this.#whole = 0;
    this.#fence = { close, lang: lang?.trim() ?? '', body: '', told: 0 };
    return true;
  }

  /** Moves whole lines into the open code block. Returns its markup if one of them closes it. */
  #readFence(): string | null {
    const fence = this.#fence;
    if (!fence) return null;
    let from = 0;
    for (let end = this.#tail.indexOf('\n'); end !== -1; end = this.#tail.indexOf('\n', from)) {
      const line = this.#tail.slice(from, end);
      from = end + 1;
      if (fence.close.test(line)) {
        this.#tail = this.#tail.slice(from);
        this.#fence = null;
        return code(readable(fence.body), fence.lang);
      }
      fence.body += `${line}\n`;
    }
    this.#tail = this.#tail.slice(from);
    return null;
  }

  #lines(): string {
    const fence = this.#fence;
    if (!fence) return '';
    const added = fence.body.slice(fence.told);
    fence.told = fence.body.length;
    return readable(added);
  }

  #render(words: string): string {
    return words === '' ? '' : this.#parse(this.#lex(words));
  }

  #lex(words: string): TokensList {
    this.parsed += words.length;
    const tokens = marked.lexer(readable(words));
    Object.assign(this.#links, tokens.links);
    return tokens;
  }

  #parse(tokens: Token[]): string {
    return marked.parser(Object.assign(tokens, { links: this.#links }));
  }
}

function code(words: string, lang: string): string {
  const name = /^[\w+#.-]{1,30}/.exec(lang)?.[0] ?? '';
  return `<pre><code${name === '' ? '' : ` class="language-${escaped(name)}"`}>${escaped(words.replace(/\n$/, ''))}\n</code></pre>\n`;
}

function link(href: string, words: string): string {
  return `<a href="${escaped(href)}" title="${escaped(href)}">${words}</a>`;
}

function escaped(words: string): string {
  return words.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
