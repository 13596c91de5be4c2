// The figures of a period: what holds for all, a chart of one measure by group, and the totals of each group.

import { useMemo } from 'preact/hooks';

import { isPercentile, lastBound, partsOf, valueOf, type Measure, type Part, type Usage } from '../../data/usage';
import type { UsageFigures, UsageGroup } from '../../data/types';
import { language, text } from '../../text';
import { Charted } from '../../ui/chart';
import type { Drawing } from '../../ui/drawing';
import { Empty, Foreign } from '../../ui/parts';
import { Records, type Column } from '../../ui/records';
import { amountWords, figureWords, groupWords, short, spanWords, summaryOf } from './words';

/** The groups that a chart tells apart. */
const MOST_PARTS = 6;
const SHORT = new Intl.NumberFormat(language, { notation: 'compact' });

export function Shown({ usage, measure }: { usage: Usage; measure: Measure }) {
  const { answer, all } = usage;
  if (all.total.inferences === 0) {
    return (
      <Empty icon="chart" title={text.usage.nothingTitle}>
        <p>{text.usage.nothing}</p>
        <a class="button" href="/workspace">
          {text.usage.nothingAction}
        </a>
      </Empty>
    );
  }
  return (
    <>
      <Tiles usage={usage} />
      <OverTime usage={usage} measure={measure} />
      <p class="hint">{text.usage.uncounted(all.total.uncounted)}</p>
      {answer.group_by === 'tag' && <p class="hint">{text.usage.tagHint}</p>}
      <h2>{text.usage.totals}</h2>
      <Totals usage={usage} />
    </>
  );
}

function Tiles({ usage: { answer, all } }: { usage: Usage }) {
  const { total } = all;
  const words = text.usage;
  const number = (count: number): string => count.toLocaleString(language);
  const tiles: [name: string, value: string, more: string, there: boolean][] = [
    [words.tile.inferences, number(total.inferences), words.countedOf(total.counted, total.uncounted), true],
    [words.tile.tokens, number(valueOf(total, 'tokens') ?? 0), words.tokensOf(total.prompt_tokens, total.completion_tokens), true],
    [words.tile.audio, words.seconds(valueOf(total, 'audio') ?? 0), '', total.audio_ms > 0],
    [words.tile.images, number(total.images), '', total.images > 0],
    [words.tile.firstToken, figureWords(total, 'first_token_p50', answer), words.p95(figureWords(total, 'first_token_p95', answer)), total.first_token_ms.p50 != null],
    [words.tile.rate, figureWords(total, 'token_rate_p50', answer), words.p95(figureWords(total, 'token_rate_p95', answer)), total.token_rate.p50 != null],
  ];
  return (
    <dl class="usage-tiles">
      {tiles.map(
        ([name, value, more, there]) =>
          there && (
            <div key={name} class="card">
              <dt class="soft">{name}</dt>
              <dd class="number">{value}</dd>
              {more !== '' && <dd class="soft small">{more}</dd>}
            </div>
          ),
      )}
    </dl>
  );
}

function OverTime({ usage, measure }: { usage: Usage; measure: Measure }) {
  const { answer, all } = usage;
  const parts = useMemo(() => partsOf(usage, measure, MOST_PARTS), [usage, measure]);
  const drawing = useMemo(() => drawingOf(usage, measure, parts), [usage, measure, parts]);
  if (parts.length === 0) {
    return (
      <Empty icon="chart" title={text.usage.nothingOfTitle}>
        <p>{text.usage.nothingOf}</p>
      </Empty>
    );
  }
  const columns: Column<number>[] = [
    { name: text.chart.begins, class: 'tight', cell: (place) => spanWords(all.buckets[place]?.begin ?? answer.from, answer.bucket) },
    ...parts.map(({ group, values }) => ({
      name: short(groupWords(group, answer.group_by)),
      class: 'number',
      cell: (place: number) => amountWords(values[place] ?? null, measure, lastBound(answer, measure)),
    })),
  ];
  const measured = answer.groups.filter(({ total }) => valueOf(total, measure) !== null).length;
  return (
    <>
      <Charted
        title={text.usage.measures[measure]}
        summary={summaryOf(usage, measure, parts)}
        drawing={drawing}
        columns={columns}
        items={all.buckets.map((_, place) => place)}
        idOf={String}
      />
      {isPercentile(measure) && measured > parts.length && <p class="hint">{text.usage.percentileHint(parts.length, measured)}</p>}
    </>
  );
}

function drawingOf({ answer, all }: Usage, measure: Measure, parts: readonly Part[]): Drawing {
  const percentile = isPercentile(measure);
  return {
    kind: percentile ? 'lines' : 'bars',
    times: all.buckets.map(({ begin }) => Date.parse(begin)),
    from: Date.parse(answer.from),
    to: Date.parse(answer.to),
    series: parts.map(({ group, values }) => ({ name: groupWords(group, answer.group_by), values })),
    utc: answer.bucket === 'day',
    format: (value) => (percentile ? amountWords(value, measure, null) : SHORT.format(value)),
    exact: (value) => amountWords(value, measure, null),
    ...(isPercentile(measure) ? {} : { unit: text.usage.units[measure] }),
    when: (time) => spanWords(new Date(time).toISOString(), answer.bucket),
  };
}

function Totals({ usage: { answer, all } }: { usage: Usage }) {
  const { group_by: by, groups, others } = answer;
  const rows: (UsageGroup | null)[] = others && others.total.inferences > 0 ? [...groups, null] : groups;
  const figures = (group: UsageGroup | null): UsageFigures => (group ?? others ?? all).total;
  const names = text.usage.columns;
  const plain = (name: string, value: (of: UsageFigures) => number): Column<UsageGroup | null> => ({
    name,
    class: 'tight number',
    cell: (group) => value(figures(group)).toLocaleString(language),
  });
  const measured = (name: string, ...measures: Measure[]): Column<UsageGroup | null> => ({
    name,
    class: 'tight number',
    cell: (group) => measures.map((measure) => figureWords(figures(group), measure, answer)).join(' / '),
  });
  const columns: Column<UsageGroup | null>[] = [
    { name: text.usage.bys[by], class: 'wide', cell: (group) => <Foreign>{groupWords(group, by)}</Foreign> },
    plain(names.counted, ({ counted }) => counted),
    plain(names.uncounted, ({ uncounted }) => uncounted),
    plain(names.prompt, ({ prompt_tokens: tokens }) => tokens),
    plain(names.completion, ({ completion_tokens: tokens }) => tokens),
    ...(all.total.audio_ms > 0 ? [measured(names.audio, 'audio')] : []),
    ...(all.total.images > 0 ? [measured(names.images, 'images')] : []),
    measured(names.firstToken, 'first_token_p50', 'first_token_p95'),
    measured(names.rate, 'token_rate_p50', 'token_rate_p95'),
  ];
  return (
    <div class="usage-totals" tabIndex={0} role="group" aria-label={text.usage.totals}>
      <Records label={text.usage.totals} columns={columns} items={rows} idOf={(group) => String(rows.indexOf(group))} />
    </div>
  );
}
