// Markdown of a model becomes markup that is safe after sanitising. Pure: text in, markup out.

import { Marked, type Token, type TokensList } from 'marked';

import { readable } from './plain';

export type Links = TokensList['links'];

/** Who speaks is a heading of the second level, and those of an answer stand below it. */
const HIGHEST_HEADING = 3;
const LINK = /^(?:https?:\/\/|mailto:)/i;

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    heading({ tokens, depth }) {
      // Most answers begin at `##`: a level that is skipped sounds like a part that is missing.
      const level = Math.min(Math.max(depth + 1, HIGHEST_HEADING), 6);
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

/** Returns the blocks of a text with its links, without what stands in their lines. */
export function lexed(words: string): TokensList {
  return marked.lexer(readable(words));
}

/** Returns the markup of one block. */
export function rendered(token: Token, links: Links): string {
  return marked.parser(Object.assign([token], { links }));
}

/** Returns the markup of words inside a paragraph. */
export function inline(words: string, links: Links): string {
  const lexer = new marked.Lexer(marked.defaults);
  lexer.tokens.links = links;
  return marked.Parser.parseInline(lexer.inlineTokens(words), marked.defaults);
}

/** Makes the markup of each block of a whole text. Stops after each piece of work, so that a long text is no long task. */
export function* wholeMarkup(words: string): Generator<undefined, string[]> {
  const lexer = new marked.Lexer(marked.defaults);
  lexer.blockTokens(readable(words), lexer.tokens);
  yield;
  for (const { src, tokens } of lexer.inlineQueue.splice(0)) {
    lexer.state.inRawBlock = false;
    lexer.inlineTokens(src, tokens);
    yield;
  }
  const blocks: string[] = [];
  for (const token of lexer.tokens) {
    const block = token.type === 'space' ? '' : rendered(token, lexer.tokens.links);
    if (block !== '') blocks.push(block);
    yield;
  }
  return blocks;
}

/** Returns the markup of code. */
export function code(words: string, lang: string): string {
  const name = /^[\w+#.-]{1,30}/.exec(lang)?.[0] ?? '';
  return `<pre><code${name === '' ? '' : ` class="language-${escaped(name)}"`}>${escaped(words.replace(/\n$/, ''))}\n</code></pre>\n`;
}

function link(href: string, words: string): string {
  return `<a href="${escaped(href)}" title="${escaped(href)}">${words}</a>`;
}

function escaped(words: string): string {
  return words.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
