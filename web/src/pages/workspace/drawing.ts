// Draws an answer while it grows. What arrives between two drawings is drawn at once. After each drawing there is a pause
// four times as long as the frame took, layout and paint included, so an answer takes a fifth of the main thread at most.

import { GrowingMarkdown, type Mended } from '../../workspace/growing';
import { Paper } from './paper';

/** The shortest time between two drawings, in milliseconds. */
const GAP = 80;
/** How many times as long as a frame the pause after it is. */
const SHARE = 4;
/** How long the whole text is compared with what was drawn before others have the processor, in milliseconds. */
const SLICE = 8;

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

  /** Draws what is left, at once. Then the whole is compared with what was drawn, a little at a time. */
  finish(): void {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#paper.draw(this.#markdown.close());
    this.drawn();
    const work = this.#markdown.mended();
    setTimeout(() => this.#mend(work));
  }

  #mend(work: Generator<undefined, Mended[]>): void {
    const until = performance.now() + SLICE;
    for (let step = work.next(); ; step = work.next()) {
      if (step.done) {
        if (step.value.length === 0) return;
        this.#paper.mend(step.value);
        this.drawn();
        return;
      }
      if (performance.now() > until) break;
    }
    setTimeout(() => this.#mend(work));
  }

  #draw(): void {
    const began = performance.now();
    this.#frame = null;
    this.#paper.draw(this.#markdown.grow());
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
