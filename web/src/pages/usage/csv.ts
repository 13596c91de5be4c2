// Usage as CSV: a line for each group and span in which something happened. Pure.

import type { Grouping, Usage, UsageGroup } from '../../data/usage';
import { text } from '../../text/en';
import { csvDocument } from '../../ui/csv';

export function csvOf({ bucket, begins, groups }: Usage, by: Grouping, nameOf: (group: UsageGroup) => string): string {
  const lines = groups.flatMap((group) =>
    group.spans.flatMap((sums, place) => {
      if (sums.inferences === 0) return [];
      const begin = new Date(begins[place] ?? 0).toISOString();
      const { inferences, uncounted, promptTokens, completionTokens, audioMs, images, durationMs } = sums;
      const name = nameOf(group);
      return [[begin, bucket, by, group.id, name, inferences, uncounted, promptTokens, completionTokens, audioMs / 1000, images, durationMs]];
    }),
  );
  return csvDocument(text.usage.csvColumns, lines);
}
