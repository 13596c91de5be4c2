// Markdown of a model: what it may look like, and that a growing answer costs the same for each token.

import { describe, expect, it, vi } from 'vitest';

import { GrowingMarkdown, markup } from '../src/workspace/markdown';
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
    paper.draw(markdown);
  }
  return { element, parsed: markdown.parsed };
}

/** Grows a text in pieces, and returns its markup and what it cost. */
function grown(pieces: readonly string[]): { html: string; parsed: number } {
  const markdown = new GrowingMarkdown();
  let [settled, open] = ['', ''];
  for (const piece of pieces) {
    markdown.push(piece);
    const growth = markdown.grow();
    settled += growth.settled.join('');
    open = growth.open;
  }
  return { html: settled + open, parsed: markdown.parsed };
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
    expect(html('# Big')).toBe('<h4 dir="auto">Big</h4>\n');
    expect(html('| a |\n|--:|\n| 1 |')).toContain('<td align="right">1</td>');
  });
});

describe('an answer that grows', () => {
  it('ends as if it had come at once, whatever the cuts', () => {
    const whole = grown([DOCUMENT]);
    const random = numbers(7);
    for (let round = 0; round < 300; round += 1) {
      const pieces: string[] = [];
      for (let at = 0; at < DOCUMENT.length; ) {
        const length = 1 + Math.floor(random() * (round < 100 ? 3 : 40));
        pieces.push(DOCUMENT.slice(at, at + length));
        at += length;
      }
      expect(grown(pieces).html, pieces.join('¦')).toBe(whole.html);
    }
    const { element } = drawn([DOCUMENT]);
    expect(element.querySelectorAll('pre')).toHaveLength(3);
    expect(element.querySelectorAll('.code-block button')).toHaveLength(3);
    expect([...element.querySelectorAll('ol')].map((list) => list.children.length)).toEqual([3]);
  });

  it('parses each part a bounded number of times', () => {
    const tokens = 20_000;
    const words = Array.from({ length: tokens }, (_, index) => (index % 40 === 39 ? 'end.\n\n' : `word${index % 7} `));
    const frames: string[] = [];
    for (let at = 0; at < tokens; at += 4) frames.push(words.slice(at, at + 4).join(''));
    const half = grown(frames.slice(0, frames.length / 2)).parsed;
    const whole = grown(frames).parsed;
    expect(whole).toBeLessThan(words.join('').length * 20);
    expect(whole / half).toBeGreaterThan(1.9);
    expect(whole / half).toBeLessThan(2.1);
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
    paper.draw(markdown);
    const first = element.querySelector('.block p');
    expect(first?.textContent).toBe('one');
    markdown.push('ee\n\nfour\n');
    paper.draw(markdown);
    expect(element.querySelector('.block p')).toBe(first);
  });

  it('knows a link that was named before', () => {
    const { element } = drawn(['[a]: https://example.com\n\nfirst\n\nsee [a]\n\nlast\n']);
    expect(element.querySelector('a')?.href).toBe('https://example.com/');
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
  });
});
