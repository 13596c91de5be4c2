// The order of a table as the address has it: the name of a column, with `-` in front if it descends. Pure.

export interface Order {
  column: string;
  descending: boolean;
}

/** Reads the order; what is no column has no effect. */
export function orderOf(words: string | null, columns: readonly string[], usual: Order): Order {
  const descending = words?.startsWith('-') ?? false;
  const column = descending ? words?.slice(1) : words;
  return column && columns.includes(column) ? { column, descending } : usual;
}

/** Returns the order as the address has it; the usual order is left out. */
export function orderWords({ column, descending }: Order, usual: Order): string | null {
  return column === usual.column && descending === usual.descending ? null : (descending ? '-' : '') + column;
}

/** Returns the order after a click on the head of a column. */
export function turned(order: Order, column: string): Order {
  return { column, descending: order.column === column && !order.descending };
}

/** Orders as the code units do: locale-aware comparison of 10,000 names takes longer than a frame. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns a text that orders names as people do: `lab-2` before `lab-10`, without regard to case. */
export function nameKey(name: string): string {
  return name.slice(0, 200).toLowerCase().replace(/\d+/g, (digits) => digits.padStart(16, '0'));
}
