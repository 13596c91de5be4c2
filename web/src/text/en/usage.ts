// Words of the page of usage.

import { plural } from './plural';

const number = (count: number): string => count.toLocaleString('en');

export const usage = {
  title: 'Usage',
  period: 'Period',
  periods: { day: 'Last 24 hours', week: 'Last 7 days', month: 'Last 30 days', quarter: 'Last 90 days' },
  by: 'By',
  bys: { model: 'Model', device: 'Device', none: 'All together' },
  measure: 'Show',
  measures: { tokens: 'Tokens', inferences: 'Inferences', audio: 'Seconds of audio', images: 'Images' },
  table: 'Numbers of the chart',
  tableOf: (measure: string) => `${measure} over time`,
  when: 'Begins',
  totals: 'Totals of the period',
  columns: {
    name: 'Name', inferences: 'Inferences', uncounted: 'Uncounted', prompt: 'Prompt tokens', completion: 'Completion tokens',
    audio: 'Audio (s)', images: 'Images',
  },
  csvColumns: [
    'begin', 'bucket', 'group_by', 'group_id', 'group', 'inferences', 'uncounted', 'prompt_tokens', 'completion_tokens',
    'audio_seconds', 'images', 'duration_ms',
  ],
  csv: 'Export CSV',
  counted: 'Counted',
  uncounted: (count: number) =>
    count === 0
      ? 'Every inference was counted.'
      : `${plural(count, 'inference is', 'inferences are')} uncounted: the engine did not say how much ${count === 1 ? 'it' : 'they'} used, so ${count === 1 ? 'it is' : 'they are'} not part of the tokens, audio and images.`,
  summary: (measure: string, total: string, top: string | null, share: number, peak: string | null) =>
    [
      `${measure}: ${total}.`,
      top === null ? '' : `Most by ${top} (${share} %).`,
      peak === null ? '' : `Highest in the span that begins ${peak}.`,
    ]
      .filter(Boolean)
      .join(' '),
  removedModel: 'Removed model',
  removedDevice: 'Removed device',
  all: 'All',
  others: (count: number) => `${number(count)} others`,
  cut: (since: string) => `There is more usage than this page loads. What is shown begins ${since}.`,
  nothingTitle: 'No usage in this period',
  nothing: 'Each inference of a served model is counted here a moment after it ends.',
  nothingOfTitle: 'Nothing of this kind in this period',
  nothingOf: 'There were inferences, but none that is counted in this unit.',
  failedTitle: 'The usage could not be loaded',
  reload: 'Load anew',
  tile: { inferences: 'Inferences', tokens: 'Tokens', audio: 'Audio', images: 'Images' },
  tokensOf: (prompt: number, completion: number) => `${number(prompt)} prompt, ${number(completion)} completion`,
  uncountedOf: (count: number) => (count === 0 ? 'all counted' : `${number(count)} uncounted`),
  seconds: (count: number) => plural(count, 'second', 'seconds'),
} as const;
