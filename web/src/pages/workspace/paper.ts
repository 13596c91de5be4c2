// Draws Markdown that grows into an element, step by step: what is settled stays as it is, and of a long open block only the
// tail is drawn anew. Blocks stand in groups, which the browser leaves out of its work while they are out of sight.

import { text } from '../../text';
import type { Mended, Step } from '../../workspace/growing';
import { fill } from '../../workspace/safe';

/** How many blocks are in a group. To leave each out by itself costs the browser more for each further one. */
const GROUP = 24;

export class Paper {
  readonly #root: HTMLElement;
  readonly #blocks: HTMLElement[] = [];
  #group: HTMLElement;
  #open = element('open-block');
  /** The element of a long block that has its parts, and what of it the next part replaces. */
  #parts: Element | null = null;
  #tail: ChildNode[] = [];
  #code: Text | null = null;

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#group = this.#begun();
  }

  draw(steps: readonly Step[]): void {
    for (const step of steps) this.#draw(step);
  }

  /** Draws blocks that differ from what they should be. */
  mend(edits: readonly Mended[]): void {
    for (const { at, remove, markup } of edits.toReversed()) {
      const before = this.#blocks[at - 1];
      const blocks = markup.map(settled);
      for (const gone of this.#blocks.splice(at, remove, ...blocks)) gone.remove();
      if (before) before.after(...blocks);
      else this.#root.firstElementChild?.prepend(...blocks);
    }
  }

  #draw(step: Step): void {
    switch (step.do) {
      case 'open':
        this.#fill(step.markup);
        return;
      case 'code': {
        this.#fill(step.markup);
        this.#code = document.createTextNode('');
        this.#open.querySelector('code')?.replaceChildren(this.#code);
        return;
      }
      case 'lines':
        this.#code?.appendData(step.words);
        return;
      case 'part':
        if (this.#parts) this.#replaceTail(step.markup, true);
        else this.#fill(step.markup);
        this.#parts ??= partsIn(this.#open);
        return;
      case 'tail':
        this.#replaceTail(step.markup, false);
        if (step.after !== '') this.#follow(settled(step.after));
        return;
      case 'words': {
        const words = document.createTextNode(step.words);
        if (this.#parts?.localName === 'p') {
          this.#parts.append(words);
          this.#tail.push(words);
        } else {
          const rest = element('unparsed');
          rest.dir = 'auto';
          rest.append(words);
          this.#follow(rest);
        }
        return;
      }
      case 'settle':
        this.#settle(step.markup);
    }
  }

  #fill(markup: string): void {
    this.#forget();
    fill(this.#open, markup);
    addCopyButtons(this.#open);
  }

  #forget(): void {
    this.#parts = null;
    this.#tail = [];
    this.#code = null;
  }

  /** Puts the parts of a block behind those that are there, for good or until the next ones. */
  #replaceTail(markup: string, forGood: boolean): void {
    for (const node of this.#tail) node.remove();
    const fragment = document.createElement('div');
    fill(fragment, markup);
    addCopyButtons(fragment);
    const parts = partsIn(fragment);
    // The line between the begin of a list and its items is there already.
    if (parts?.localName.endsWith('l') && parts.firstChild?.nodeType === Node.TEXT_NODE) parts.firstChild.remove();
    const nodes = [...(parts?.childNodes ?? [])];
    this.#parts?.append(...nodes);
    this.#tail = forGood ? [] : nodes;
  }

  /** Puts something behind the open block, until the next part. */
  #follow(node: HTMLElement): void {
    this.#open.append(node);
    this.#tail.push(node);
  }

  #settle(markup: string | null): void {
    if (markup === null) {
      this.#open.className = 'block';
      this.#blocks.push(this.#open);
      this.#open = element('open-block');
      this.#group.append(this.#open);
    } else {
      this.#open.replaceChildren();
      const block = settled(markup);
      this.#blocks.push(block);
      this.#open.before(block);
    }
    this.#forget();
    if (this.#group.childElementCount > GROUP) this.#group = this.#begun();
  }

  /** Begins a group, in which the open block is. */
  #begun(): HTMLElement {
    const group = element('blocks');
    group.append(this.#open);
    this.#root.append(group);
    return group;
  }
}

function element(name: string): HTMLElement {
  const made = document.createElement('div');
  made.className = name;
  return made;
}

function settled(markup: string): HTMLElement {
  const block = element('block');
  fill(block, markup);
  addCopyButtons(block);
  return block;
}

/** Returns the element that has the parts of a drawn list, table or paragraph. */
function partsIn(block: Element): Element | null {
  const first = block.firstElementChild;
  return first?.localName === 'table' ? first.querySelector('tbody') : first;
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
    button.addEventListener('click', () => void copy(pre, button));
    head.append(language, button);
    pre.tabIndex = 0;
    pre.replaceWith(frame);
    frame.append(head, pre);
  }
}

/** Copies code without its last line break, with which a shell would run it at once. */
async function copy(pre: HTMLElement, button: HTMLButtonElement): Promise<void> {
  try {
    await navigator.clipboard.writeText((pre.textContent ?? '').replace(/\n$/, ''));
    told(button, text.workspace.copied);
  } catch {
    // Refused, or a page that is no secure context and has no clipboard.
    told(button, text.workspace.copyFailed);
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
