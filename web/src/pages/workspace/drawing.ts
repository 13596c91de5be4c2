// Draws an answer while it grows. After each drawing there is a pause four times as long as the frame took, layout and paint
// included, so an answer takes a fifth of the main thread at most. What arrives in the meantime is drawn together. If that is
// much, because the tab was hidden or the processor is slow, it is drawn in several parts, so that none is a long task.

import { GrowingMarkdown, type Mended } from '../../workspace/growing';
import { Paper } from './paper';

/** The shortest time between two drawings, in milliseconds. */
const GAP = 80;
/** How many times as long as a frame the pause after it is. */
const SHARE = 4;
/** The most characters that are drawn at once. */
const MOST = 2_000;
/** How long the whole text is compared with what was drawn before others have the processor, in milliseconds. */
const SLICE = 8;

export class Drawing {
  readonly #markdown = new GrowingMarkdown();
  readonly #paper: Paper;
  /** What was pushed and is not drawn. */
  #waiting = '';
  /** Whether anything was drawn. */
  #hasDrawn = false;
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
    this.#waiting += piece;
    if (this.#timer === null) this.#frame ??= requestAnimationFrame(() => this.#draw());
  }

  /** Draws what is left: a text of which nothing was drawn at once, another one in parts. Then the whole is compared with what
   * was drawn, a little at a time. */
  finish(): void {
    this.stop();
    this.#endAfter(this.#hasDrawn ? MOST : Infinity);
  }

  /** Gives up: nothing is drawn from here on. */
  stop(): void {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#frame = null;
    this.#timer = null;
  }

  #endAfter(most: number): void {
    const part = this.#part(most);
    this.#markdown.push(part);
    if (this.#waiting !== '') {
      this.#paint();
      this.#timer = setTimeout(() => this.#endAfter(most));
      return;
    }
    this.#paper.draw(this.#markdown.close());
    this.drawn();
    const work = this.#markdown.mended();
    this.#timer = setTimeout(() => this.#mend(work));
  }

  /** Takes at most `most` characters of what waits. No sign of two code units is cut. */
  #part(most: number): string {
    const isCut = this.#waiting.length > most && /[\ud800-\udbff]/.test(this.#waiting.charAt(most - 1));
    const part = this.#waiting.slice(0, isCut ? most - 1 : most);
    this.#waiting = this.#waiting.slice(part.length);
    return part;
  }

  #paint(): void {
    this.#hasDrawn = true;
    this.#paper.draw(this.#markdown.grow());
    this.drawn();
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
    this.#timer = setTimeout(() => this.#mend(work));
  }

  #draw(): void {
    const began = performance.now();
    this.#frame = null;
    this.#markdown.push(this.#part(MOST));
    this.#paint();
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
