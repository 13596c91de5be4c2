// Words of the page of usage.

import { plural } from './plural';

const number = (count: number): string => count.toLocaleString('en');

export const usage = {
  title: 'Usage',
  period: 'Period',
  periods: { today: 'Today (UTC)', day: 'Last 24 hours', week: 'Last 7 days', month: 'Last 30 days', quarter: 'Last 90 days' },
  by: 'Group by',
  bys: { model: 'Model', device: 'Device', tag: 'Tag', none: 'All together' },
  bucket: 'Interval',
  buckets: { hour: 'Hours', day: 'Days (UTC)' },
  measure: 'Measure',
  measures: {
    tokens: 'Tokens',
    inferences: 'Inferences',
    audio: 'Seconds of audio',
    images: 'Images',
    first_token_p50: 'Time to first token (p50)',
    first_token_p95: 'Time to first token (p95)',
    token_rate_p50: 'Tokens per second (p50)',
    token_rate_p95: 'Tokens per second (p95)',
  },
  totals: 'Totals of the period',
  columns: {
    counted: 'Counted', uncounted: 'Uncounted', prompt: 'Prompt', completion: 'Completion',
    audio: 'Audio (s)', images: 'Images', firstToken: 'First token p50/p95', rate: 'Tokens/s p50/p95',
  },
  csv: 'Export CSV',
  csvColumns: [
    'begin', 'group_id', 'group_name', 'inferences', 'counted', 'uncounted', 'prompt_tokens', 'completion_tokens', 'audio_ms', 'images',
    'first_token_p50_ms', 'first_token_p95_ms', 'token_rate_p50', 'token_rate_p95',
  ],
  uncounted: (count: number) =>
    count === 0
      ? 'Every inference was counted.'
      : `${plural(count, 'inference is', 'inferences are')} uncounted: the engine did not say how much ${count === 1 ? 'it' : 'they'} used, so ${count === 1 ? 'it is' : 'they are'} not part of the tokens, audio and images.`,
  tagHint: 'A device counts in each of its tags, as they are now, so the groups can add up to more than the whole.',
  percentileHint: (shown: number, all: number) =>
    `The chart shows the ${number(shown)} groups with the most inferences of ${number(all)}. The totals have all of them.`,
  spans: { hour: (begin: string) => `in the hour from ${begin}`, day: (begin: string) => `on ${begin}` },
  summary: (measure: string, total: string, top: string | null, share: number, peak: string | null) =>
    [
      `${measure}: ${total}.`,
      top === null ? '' : `Most by ${top} (${share}\u00a0%).`,
      peak === null ? '' : `Highest ${peak}.`,
    ]
      .filter(Boolean)
      .join(' '),
  slowSummary: (measure: string, all: string, slowest: string | null, value: string, span: string | null) =>
    [`${measure}: ${all}.`, slowest === null ? '' : `Slowest: ${slowest} (${value}).`, span === null ? '' : `Slowest ${span}.`]
      .filter(Boolean)
      .join(' '),
  removedModel: (id: string) => `Removed model ${id}`,
  removedDevice: (id: string) => `Removed device ${id}`,
  untagged: 'No tag',
  all: 'All',
  others: 'Others',
  nothingTitle: 'No usage in this period',
  nothing: 'Each inference of a served model is counted here a moment after it ends.',
  nothingAction: 'Open the workspace',
  nothingOfTitle: 'Nothing of this kind in this period',
  nothingOf: 'There were inferences, but none that is counted in this unit.',
  failedTitle: 'The usage could not be loaded',
  reload: 'Refresh',
  tile: {
    inferences: 'Inferences', tokens: 'Tokens', audio: 'Audio', images: 'Images', firstToken: 'Time to first token (p50)',
    rate: 'Tokens per second (p50)',
  },
  tokensOf: (prompt: number, completion: number) => `${number(prompt)} prompt, ${number(completion)} completion`,
  countedOf: (counted: number, uncounted: number) =>
    uncounted === 0 ? 'all counted' : `${number(counted)} counted, ${number(uncounted)} uncounted`,
  p95: (value: string) => `p95: ${value}`,
  units: { tokens: 'tokens', inferences: 'inferences', audio: 'seconds', images: 'images' },
  unknown: '–',
  overBound: (value: string) => `≥\u00a0${value}`,
  seconds: (count: number) => plural(count, 'second', 'seconds'),
  milliseconds: (count: number) => (count < 10_000 ? `${number(Math.round(count))}\u00a0ms` : `${(count / 1000).toFixed(1)}\u00a0s`),
  rate: (count: number) => `${count < 100 ? count.toFixed(1) : number(Math.round(count))}/s`,
} as const;
