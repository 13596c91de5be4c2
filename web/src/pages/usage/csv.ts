// The usage that the page shows as CSV, safe to open in a spreadsheet. Pure. The export of the backend knows no groups and has
// no percentiles, which cannot be computed from its rows.

import { valueOf, type Usage } from '../../data/usage';
import { text } from '../../text';
import { csvDocument } from '../../ui/csv';
import { groupWords } from './words';

/** Returns a document with a line for each group and hour or day. Beyond the last class of a histogram, a percentile is its bound. */
export function csv({ answer: { group_by: by, groups, others } }: Usage): string {
  const rest = others && others.total.inferences > 0 ? [others] : [];
  const lines = [...groups, ...rest].flatMap((group) => {
    const name = groupWords(group === others ? null : group, by);
    return group.buckets.map((figures) => [
      figures.begin,
      group.key,
      name,
      figures.inferences,
      figures.counted,
      figures.uncounted,
      figures.prompt_tokens,
      figures.completion_tokens,
      figures.audio_ms,
      figures.images,
      valueOf(figures, 'first_token_p50'),
      valueOf(figures, 'first_token_p95'),
      valueOf(figures, 'token_rate_p50'),
      valueOf(figures, 'token_rate_p95'),
    ]);
  });
  return csvDocument(text.usage.csvColumns, lines);
}
