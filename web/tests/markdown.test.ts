// Markdown of a model: what it may look like, and that a growing answer costs the same for each token.

import { describe, expect, it, vi } from 'vitest';

import { GrowingMarkdown } from '../src/workspace/growing';
import { markup } from '../src/workspace/markdown';
import { cutOf } from '../src/workspace/parts';
import { readable, Sentences } from '../src/workspace/plain';
import { fill } from '../src/workspace/safe';
import { Paper } from '../src/pages/workspace/paper';
import { numbers } from './fixtures';

vi.setConfig({ testTimeout: 30_000 });

const DOCUMENT = [
  '# Title', 'A paragraph with **bold**, `code` and [a link](https://example.com).', '1. one\n2. two\n\n   still two\n3. three',
  '- [ ] open\n- [x] done', '```rust\nfn main() {\n\n    let x = "```";\n}\n```', '| a | b |\n|---|--:|\n| 1 | 2 |',
  '> quoted\nlazily', 'Setext\n===', '~~~\ntilde\n```\n~~~', 'Tabs\tand\r\nlines', '***', '    indented code', 'The end.',
].join('\n\n');

/** What blocks begin, go on and end with, and what makes one another. */
const SCRAPS = [
  'word ', 'two words', '\n', '\n', '\n\n', '\n\n', '  ', '    ', '\t', '- ', '* ', '1. ', '2) ', '- [ ] ', '> ', '# ', '### ', '```', '```js\n', '~~~\n', '`', '**', '*', '_',
  '~~', '[a]', '[a]: https://example.com', ' "title', 'title"', '[b](https://example.org)', '![c](https://example.net/c.png)', '| a | b |\n', '|---|:-:|\n', '| 1 | 2 |\n',
  '===', '---', '<div>', '</div>', '<!--', '-->', '<script>', '<br>', '<b>', '&amp;', '\\', 'https://example.com/x', '\r\n', '\r', '\u200b', '\u202e', '👩‍💻', '[', ']', '(', '!', '|',
];

/** Blocks of many thousand characters, and whether they can be drawn part by part. */
const LONG_BLOCKS: [string, string, boolean][] = [
  ['list', Array.from({ length: 400 }, (_, at) => `- item **${at}** with \`code\` and some words more\n`).join(''), true],
  ['list of numbers', Array.from({ length: 400 }, (_, at) => `${at + 1}. item **${at}** with words\n   and a second line\n`).join(''), true],
  ['list that comes apart', Array.from({ length: 400 }, (_, at) => `- item **${at}** with some words and more${at === 300 ? '\n\n' : '\n'}`).join(''), false],
  ['list of lists', Array.from({ length: 200 }, (_, at) => `- item **${at}**\n  - one below it\n\n    of two paragraphs\n  - and another\n`).join(''), true],
  ['list of one item', `- one\n${Array.from({ length: 400 }, (_, at) => `  - item ${at} with **some** words\n`).join('')}`, false],
  ['table', `| a | b |\n|---|--:|\n${Array.from({ length: 400 }, (_, at) => `| cell ${at} | **${at}** and words |\n`).join('')}`, true],
  ['paragraph', Array.from({ length: 2_000 }, (_, at) => (at % 9 === 4 ? `**bold ${at}** ` : `word${at} `)).join(''), true],
  ['paragraph of lines', Array.from({ length: 800 }, (_, at) => (at % 9 === 4 ? `\`code ${at}\`\n` : `some words and more ${at}\n`)).join(''), true],
  ['paragraph that begins what never ends', `**begun ${Array.from({ length: 3_000 }, (_, at) => `word${at} `).join('')}`, false],
  ['paragraph with what looks like blocks', Array.from({ length: 1_500 }, (_, at) => `a ${['- ', '# ', '1. ', '> ', '| '][at % 5] ?? ''}b `).join(''), true],
  ['heading in the end', `${Array.from({ length: 2_000 }, (_, at) => `word${at} `).join('')}\n===\n\nmore\n`, false],
  ['word', 'x'.repeat(20_000), false],
  ['quotation', Array.from({ length: 400 }, (_, at) => `> some words and **more** ${at}\n`).join(''), false],
  ['code', `\`\`\`rust\n${Array.from({ length: 600 }, (_, at) => `    let x${at} = ${at};\n`).join('')}\`\`\``, false],
];

function html(words: string): string {
  const element = document.createElement('div');
  fill(element, markup(words));
  return element.innerHTML;
}

/** Draws a text in pieces, and returns what is on the page. */
function drawn(pieces: readonly string[]): { element: HTMLElement; parsed: number } {
  const element = document.createElement('div');
  const paper = new Paper(element);
  const markdown = new GrowingMarkdown();
  for (const piece of pieces) {
    markdown.push(piece);
    paper.draw(markdown.grow());
  }
  return { element, parsed: markdown.parsed };
}

/** Draws a text in pieces and to its end, and returns what is on the page without buttons and groups. */
function ended(pieces: readonly string[]): { html: string; mended: number; parsed: number } {
  const element = document.createElement('div');
  const paper = new Paper(element);
  const markdown = new GrowingMarkdown();
  for (const piece of pieces) {
    markdown.push(piece);
    paper.draw(markdown.grow());
  }
  paper.draw(markdown.close());
  const edits = whole(markdown.mended());
  paper.mend(edits);
  return { html: shownIn(element), mended: edits.length, parsed: markdown.parsed };
}

function whole<T>(work: Generator<undefined, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value;
}

/** Returns the markup of all blocks, without what the page adds to code. */
function shownIn(element: HTMLElement): string {
  for (const frame of element.querySelectorAll('.code-block')) frame.replaceWith(...frame.querySelectorAll('pre'));
  for (const pre of element.querySelectorAll('pre')) pre.removeAttribute('tabindex');
  return [...element.querySelectorAll('.block')].map((block) => block.innerHTML).join('');
}

/** Cuts a text into pieces of 1 to `most` characters. */
function cut(words: string, most: number, random: () => number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < words.length; ) {
    const length = 1 + Math.floor(random() * most);
    pieces.push(words.slice(at, at + length));
    at += length;
  }
  return pieces;
}

describe('markup of a model', () => {
  it.each([
    ['<img src=x onerror=alert(1)>', '&lt;img src=x onerror=alert(1)&gt;'],
    ['a <script>alert(1)</script> b', '&lt;script&gt;'],
    ['<svg><style><img src=x onerror=alert(1)>', '&lt;svg&gt;'],
    ['[x](javascript:alert(1))', '<p dir="auto">x</p>'],
    ['[x](data:text/html,hi)', '<p dir="auto">x</p>'],
    ['[x](//evil.example)', '<p dir="auto">x</p>'],
    ['[x](/api/v1/me)', '<p dir="auto">x</p>'],
    ['a \u202eevil\u200b', 'a ␣evil␣'],
    ['nul\u0000', 'nul␣'],
  ])('%j is text', (words, shown) => {
    const found = html(words);
    expect(found).toContain(shown);
    expect(found).not.toMatch(/<(img|script|svg|style|iframe|form|input)\b/);
  });

  it('opens links elsewhere, without telling from where, and says where they lead', () => {
    expect(html('[bank](https://evil.example/?a=1&b=2)')).toContain(
      '<a href="https://evil.example/?a=1&amp;b=2" title="https://evil.example/?a=1&amp;b=2" target="_blank" rel="noopener noreferrer">bank</a>',
    );
  });

  it('fetches no picture from elsewhere', () => {
    expect(html('![a cat](https://evil.example/cat.png)')).toMatch(/<a href="https:\/\/evil\.example\/cat\.png"[^>]*>a cat<\/a>/);
    expect(html('![a cat](data:image/png;base64,AAAA)')).toBe('<p dir="auto">a cat</p>\n');
  });

  it('is sanitised whatever the renderer says', () => {
    const element = document.createElement('div');
    fill(element, '<p onclick="x" style="color:red" class="primary">a<img src=x><a href="javascript:x">b</a><button>c</button></p>');
    expect(element.innerHTML).toBe('<p>a<a target="_blank" rel="noopener noreferrer">b</a>c</p>');
  });

  it('has headings below those of the page, and tables with their alignment', () => {
    const levels = [1, 2, 3, 4, 5, 6].map((depth) => /^<h(\d) dir="auto">Big<\/h\1>\n$/.exec(html(`${'#'.repeat(depth)} Big`))?.[1]);
    expect(levels).toEqual(['3', '3', '4', '5', '6', '6']);
    expect(html('| a |\n|--:|\n| 1 |')).toContain('<td align="right">1</td>');
  });
});

describe('an answer that grows', () => {
  it('ends as if it had come at once, whatever the cuts', () => {
    const random = numbers(7);
    for (let round = 0; round < 60; round += 1) {
      const pieces = cut(DOCUMENT, round < 10 ? 3 : 40, random);
      expect(ended(pieces).html, pieces.join('¦')).toBe(html(DOCUMENT));
    }
    const { element } = drawn([DOCUMENT]);
    expect(element.querySelectorAll('pre')).toHaveLength(3);
    expect(element.querySelectorAll('.code-block button')).toHaveLength(3);
    expect([...element.querySelectorAll('ol')].map((list) => list.children.length)).toEqual([3]);
  });

  it('ends as if it had come at once, whatever the text', () => {
    const random = numbers(11);
    for (let round = 0; round < 400; round += 1) {
      const words = Array.from({ length: 2 + Math.floor(random() * 14) }, () => SCRAPS[Math.floor(random() * SCRAPS.length)]).join('');
      const pieces = cut(words, 12, random);
      expect(ended(pieces).html, JSON.stringify(pieces)).toBe(html(words));
    }
  });

  it.each(LONG_BLOCKS)('ends as if it had come at once, as a long %s', (_, words) => {
    const shown = ended(cut(words, 400, numbers(3))).html;
    // Without a comparison of two long texts line by line, should they differ.
    const until = [...html(words)].findIndex((sign, at) => sign !== shown[at]);
    expect(until === -1 ? '' : shown.slice(until - 60, until + 60)).toBe('');
    expect(shown.length).toBe(html(words).length);
  });

  it.each(LONG_BLOCKS.filter(([, , apart]) => apart))('draws no part of a long %s twice', (_, words) => {
    expect(ended(cut(words, 400, numbers(5))).mended).toBe(0);
    const element = document.createElement('div');
    const paper = new Paper(element);
    const markdown = new GrowingMarkdown();
    const [first = '', rest = ''] = [words.slice(0, 12_000), words.slice(12_000)];
    for (const piece of cut(first, 400, numbers(5))) {
      markdown.push(piece);
      paper.draw(markdown.grow());
    }
    const part = element.querySelector('li, td, strong, code');
    for (const piece of cut(rest, 400, numbers(6))) {
      markdown.push(piece);
      paper.draw(markdown.grow());
    }
    paper.draw(markdown.close());
    expect(element.querySelector('li, td, strong, code')).toBe(part);
  });

  it.each(LONG_BLOCKS)('costs the same for each character of a long %s', (_, words) => {
    const [once, twice] = [words, words + words.slice(words.indexOf('\n', 9_000) + 1)].map((all) => {
      const markdown = new GrowingMarkdown();
      for (const piece of cut(all, 100, numbers(9))) {
        markdown.push(piece);
        markdown.grow();
      }
      return markdown.parsed / all.length;
    });
    // A part is parsed at each of some hundred drawings while it is the last one, however long the text.
    expect(twice).toBeLessThan(Math.max(200, (once ?? 0) * 1.3));
  });

  it('parses each part a bounded number of times', () => {
    const tokens = 20_000;
    const words = Array.from({ length: tokens }, (_, index) => (index % 40 === 39 ? 'end.\n\n' : `word${index % 7} `));
    const frames: string[] = [];
    for (let at = 0; at < tokens; at += 4) frames.push(words.slice(at, at + 4).join(''));
    const half = ended(frames.slice(0, frames.length / 2)).parsed;
    const all = ended(frames).parsed;
    expect(all).toBeLessThan(words.join('').length * 20);
    expect(all / half).toBeGreaterThan(1.9);
    expect(all / half).toBeLessThan(2.1);
  });

  it('knows a link that was named below its use, once the text is whole', () => {
    const words = 'see [a] and [b]\n\nfirst\n\n[a]: https://example.com\n\nlast\n';
    expect(ended(cut(words, 5, numbers(1)))).toMatchObject({ html: html(words), mended: 1 });
    expect(html(words)).toContain('<a href="https://example.com"');
  });

  it('parses no line of an open code block, and keeps what was drawn', () => {
    const lines = Array.from({ length: 2_000 }, (_, index) => `let x${index} = ${index};\n`);
    const { element, parsed } = drawn(['Code:\n\n```rust\n', ...lines]);
    expect(element.querySelector('pre')?.textContent).toBe(lines.join(''));
    expect(parsed).toBeLessThan(100);
  });

  it('keeps a settled block as it is', () => {
    const element = document.createElement('div');
    const paper = new Paper(element);
    const markdown = new GrowingMarkdown();
    markdown.push('one\n\ntwo\n\nthr');
    paper.draw(markdown.grow());
    const first = element.querySelector('.block p');
    expect(first?.textContent).toBe('one');
    markdown.push('ee\n\nfour\n');
    paper.draw(markdown.grow());
    expect(element.querySelector('.block p')).toBe(first);
  });

  it('knows a link that was named before', () => {
    const { element } = drawn(['[a]: https://example.com\n\nfirst\n\nsee [a]\n\nlast\n']);
    expect(element.querySelector('a')?.href).toBe('https://example.com/');
  });
});

describe('a long paragraph', () => {
  const rest = 'x'.repeat(200);
  it.each([
    ['plain words and ', 'more', 'plain words and '],
    ['one **bold two** three ', '**four five', 'one **bold two** three '],
    ['one `code * two` three ', '*four five', 'one `code * two` three '],
    ['2 * 3 and snake_case ', 'word', '2 * 3 and snake_case '],
    ['please see [the ', 'page](x)', 'please see '],
    ['a line  \nand ', 'another', 'a line  \nand '],
    ['', 'endless', ''],
  ])('%j is cut before %j', (head, tail, cutOff) => {
    const words = `${head}${tail}${rest}`;
    expect(words.slice(0, cutOf(words))).toBe(cutOff);
  });
});

describe('readable text', () => {
  it('keeps lines, tabs and joiners of words, and shows what hides', () => {
    expect(readable('a\tb\r\nc')).toBe('a\tb\nc');
    expect(readable('👩‍💻 می‌خواهم')).toBe('👩‍💻 می‌خواهم');
    expect(readable('pay\u200bpal \u200d \ud800')).toBe('pay␣pal ␣ ␣');
  });

  it('is spoken by sentence, each once', () => {
    const sentences = new Sentences();
    expect(sentences.push('Hello th')).toBe('');
    expect(sentences.push('ere. How **are** ')).toBe('Hello there.');
    expect(sentences.push('you? 3.5 is')).toBe('How are you?');
    expect(sentences.end()).toBe('3.5 is');
    expect(sentences.end()).toBe('');
    // What has no sentences is cut at a space, so that it is not searched again and again.
    const endless = Array.from({ length: 400 }, (_, at) => `word${at} `);
    const heard = endless.map((word) => sentences.push(word)).filter((words) => words !== '');
    expect(heard.length).toBeGreaterThan(3);
    expect(heard.every((words) => words.length < 700)).toBe(true);
    expect(`${heard.join(' ')} ${sentences.end()}`.trim()).toBe(endless.join('').trim());
  });
});
