// Draws an answer while it grows. What arrives between two drawings is drawn at once. After each drawing there is a pause
// four times as long as the frame took, layout and paint included, so an answer takes a fifth of the main thread at most.

import { GrowingMarkdown } from '../../workspace/markdown';
import { Paper } from './paper';

/** The shortest time between two drawings, in milliseconds. */
const GAP = 80;
/** How many times as long as a frame the pause after it is. */
const SHARE = 4;

export class Drawing {
  readonly #markdown = new GrowingMarkdown();
  readonly #paper: Paper;
  #frame: number | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;

  /** `drawn` is called after each drawing. */
  constructor(
    root: HTMLElement,
    private readonly drawn: () => void,
  ) {
    root.replaceChildren();
    this.#paper = new Paper(root);
  }

  push(piece: string): void {
    this.#markdown.push(piece);
    if (this.#timer === null) this.#frame ??= requestAnimationFrame(() => this.#draw());
  }

  /** Draws what is left, at once. */
  finish(): void {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#paper.draw(this.#markdown);
    this.drawn();
  }

  #draw(): void {
    const began = performance.now();
    this.#frame = null;
    this.#paper.draw(this.#markdown);
    this.drawn();
    // A timer runs after the frame is painted.
    this.#timer = setTimeout(() => {
      const took = performance.now() - began;
      this.#timer = setTimeout(() => {
        this.#timer = null;
        this.push('');
      }, Math.max(GAP, took * SHARE));
    });
  }
}
