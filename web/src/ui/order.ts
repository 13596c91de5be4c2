// The order of a table as the address has it: the name of a column, with `-` in front if it descends. Pure.

export interface Order {
  column: string;
  descending: boolean;
}

/** Reads the order. An unknown column has no effect. */
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
