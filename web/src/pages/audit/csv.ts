// Entries as CSV, with names beside ids, safe to open in a spreadsheet. Pure.

import type { AuditEntry } from '../../data/types';
import { text } from '../../text';
import { csvDocument } from '../../ui/csv';

export function csvOf(entries: readonly AuditEntry[], names: ReadonlyMap<string, string>): string {
  const lines = entries.map(({ entry_id, at, actor, action, outcome, subject, detail, address }) => [
    entry_id, at, actor.kind, actor.id, names.get(actor.id ?? ''), action, outcome, subject, names.get(subject), detail, address,
  ]);
  return csvDocument(text.audit.csvColumns, lines);
}
