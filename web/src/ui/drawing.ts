// What a chart draws, and what one that is drawn can be told. The page and the canvas both need it, and neither needs the other.

export interface Series {
  name: string;
  /** A value for each time; `null` where there is none: the line has a gap there. */
  values: readonly (number | null)[];
}

export interface Drawing {
  kind: 'bars' | 'lines';
  /** The beginnings of the spans, in milliseconds. */
  times: readonly number[];
  /** The period of the horizontal axis, in milliseconds. */
  from: number;
  to: number;
  series: readonly Series[];
  /** What is behind the lines: the lowest and the highest value of each span. */
  range?: { name: string; low: readonly (number | null)[]; high: readonly (number | null)[] };
  /** The top of the vertical axis. Without it, the highest value decides. */
  most?: number;
  /** Whether the spans are days in UTC. */
  utc?: boolean;
  /** Writes a value of the vertical axis. */
  format: (value: number) => string;
  /** Writes a value in full. Without it, a value is written as on the axis. */
  exact?: (value: number) => string;
  /** What the values are counted in, if they do not say so themselves. */
  unit?: string;
  /** Writes the beginning of a span. */
  when: (time: number) => string;
}

/** A chart that is on its canvas. */
export interface Plotted {
  replace: (next: Drawing) => void;
  /** Draws a line at a place, or none. */
  point: (place: number | null) => void;
}

/** Tells over which place the pointer is, or that it has left. */
export type Pointed = (place: number | null) => void;
