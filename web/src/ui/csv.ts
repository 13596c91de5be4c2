// Documents of comma-separated values, safe to open in a spreadsheet. Pure.

type Value = string | number | null | undefined;

/** Returns a document with a line of column names and a line for each row. */
export function csvDocument(columns: readonly string[], rows: readonly (readonly Value[])[]): string {
  return [columns, ...rows].map((row) => row.map(cell).join(',') + '\r\n').join('');
}

/**
 * Quotes a value. A text that a spreadsheet would read as a formula gets an apostrophe in front, also if the formula
 * follows a `;`, a tab or a line break: a spreadsheet that takes it for a separator begins a cell there.
 */
export function cell(value: Value): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const inside = value.replace(/([;\t\r\n]["\s\u0000]*)(?=[=+\-@\uff0b\uff0d\uff1d\uff20])/gu, "$1'");
  const harmless = /^[\s\u0000]*[=+\-@\uff0b\uff0d\uff1d\uff20]|^[\t\r\n]/u.test(value) ? `'${inside}` : inside;
  return /[",;\t\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
