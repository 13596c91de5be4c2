// What was measured, as rows of a table with the budget beside each value. What is over its budget is remembered.

export interface Budget {
  most: number;
  /** Whether to be over it is a failure; a time by the clock is a goal, since other programs lengthen it. */
  held: boolean;
}

export const held = (most: number): Budget => ({ most, held: true });
export const goal = (most: number): Budget => ({ most, held: false });

export class Report {
  readonly over: string[] = [];

  readonly #print: (line: string) => void;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  /** Begins a table. */
  table(title: string): void {
    this.#print(`\n| ${title} | measured | budget |\n|---|---|---|`);
  }

  row(what: string, value: number, unit: string, budget: Budget | null = null, digits = 0): void {
    const written = (number: number): string => `${number.toLocaleString('en', { maximumFractionDigits: digits })}${unit}`;
    const over = budget !== null && value > budget.most;
    if (over && budget.held) this.over.push(what);
    this.#print(`| ${what} | ${written(value)}${over ? ' (over)' : ''} | ${budget === null ? '–' : `${written(budget.most)}${budget.held ? '' : ', a goal'}`} |`);
  }
}

/** Returns the middle one of values. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Returns the value that a share of all values is at most. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
}
