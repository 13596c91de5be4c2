// Draws Markdown that grows into an element: settled blocks stay as they are, the open block is drawn anew, and lines of an
// open code block are only added.

import { text } from '../../text';
import type { GrowingMarkdown } from '../../workspace/markdown';
import { fill } from '../../workspace/safe';

export class Paper {
  readonly #open = document.createElement('div');
  #code: Text | null = null;

  constructor(root: HTMLElement) {
    this.#open.className = 'open-block';
    root.append(this.#open);
  }

  /** Draws what has changed since the last call. */
  draw(markdown: GrowingMarkdown): void {
    const { settled, open, lines } = markdown.grow();
    for (const markup of settled) {
      const block = document.createElement('div');
      block.className = 'block';
      fill(block, markup);
      addCopyButtons(block);
      this.#open.before(block);
    }
    if (settled.length > 0 || lines === null) this.#code = null;
    if (lines === null) {
      fill(this.#open, open);
      addCopyButtons(this.#open);
      return;
    }
    if (!this.#code) {
      this.#code = document.createTextNode('');
      const code = document.createElement('code');
      code.append(this.#code);
      const pre = document.createElement('pre');
      pre.append(code);
      this.#open.replaceChildren(pre);
    }
    this.#code.appendData(lines);
  }
}

/** Puts a button that copies beside each code. */
function addCopyButtons(block: HTMLElement): void {
  for (const pre of block.querySelectorAll('pre')) {
    const code = pre.querySelector('code');
    const frame = document.createElement('div');
    frame.className = 'code-block';
    const head = document.createElement('div');
    head.className = 'code-head';
    const language = document.createElement('span');
    language.textContent = /^language-(.+)$/.exec(code?.className ?? '')?.[1] ?? '';
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'button quiet';
    button.textContent = text.workspace.copy;
    button.setAttribute('aria-label', text.workspace.copyCode);
    button.addEventListener('click', () => {
      navigator.clipboard.writeText(pre.textContent ?? '').then(
        () => told(button, text.workspace.copied),
        () => told(button, text.workspace.copyFailed),
      );
    });
    head.append(language, button);
    pre.tabIndex = 0;
    pre.replaceWith(frame);
    frame.append(head, pre);
  }
}

function told(button: HTMLButtonElement, words: string): void {
  button.textContent = words;
  button.setAttribute('aria-label', words);
  setTimeout(() => {
    button.textContent = text.workspace.copy;
    button.setAttribute('aria-label', text.workspace.copyCode);
  }, 2_000);
}
