// Usage of the account over time: a chart with its numbers behind it, totals by model or device, and a file of both.

import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { change, query } from '../../app/router';
import { devices, me, models, type Loading } from '../../data/store';
import { foremost, GROUPINGS, loadUsage, MEASURES, PERIODS, valueOf, type Grouping, type Measure, type Period, type Usage, type UsageGroup } from '../../data/usage';
import { text } from '../../text/en';
import { moment } from '../../text/format';
import { Chart } from '../../ui/chart';
import { download } from '../../ui/download';
import { Icon } from '../../ui/icon';
import { Empty, Foreign, Skeleton } from '../../ui/parts';
import { ListState, Records, type Column } from '../../ui/records';
import { csvOf } from './csv';
import { spanWords, summaryOf } from './summary';

import './usage.css';

/** The groups that a chart tells apart. */
const MOST_BARS = 6;

export function UsagePage() {
  useEffect(() => {
    document.title = `${text.usage.title} – ${text.product}`;
  }, []);
  const period = PERIODS.find((known) => known === query.value.get('period')) ?? 'week';
  const by = GROUPINGS.find((known) => known === query.value.get('by')) ?? 'model';
  const measure = MEASURES.find((known) => known === query.value.get('show')) ?? 'tokens';
  const usage = useSignal<Usage | null>(null);
  const loading = useSignal<Loading>({ state: 'idle', error: null });
  const attempt = useSignal(0);
  const known = me.value !== null;
  useEffect(() => {
    if (!known) return undefined;
    const gone = new AbortController();
    loading.value = { state: usage.peek() ? 'refreshing' : 'loading', error: null };
    loadUsage(period, by, Date.now(), gone.signal).then(
      (loaded) => {
        if (gone.signal.aborted) return;
        usage.value = loaded;
        loading.value = { state: 'ready', error: null };
      },
      (error: unknown) => {
        if (!gone.signal.aborted) loading.value = { state: 'failed', error };
      },
    );
    return () => gone.abort();
  }, [period, by, known, attempt.value]);
  const again = (): void => {
    attempt.value += 1;
  };
  const nameOf = useComputed(() => (models.revision.value, devices.revision.value, namer(by))).value;
  const found = usage.value;
  return (
    <div class="page">
      <header class="page-head">
        <h1>{text.usage.title}</h1>
        <span class="spacer" />
        <button type="button" class="button" onClick={again}>
          {text.usage.reload}
        </button>
        <button
          type="button"
          class="button"
          disabled={!found || found.groups.length === 0}
          onClick={() => found && download('usage.csv', 'text/csv;charset=utf-8', csvOf(found, by, nameOf))}
        >
          <Icon name="download" />
          {text.usage.csv}
        </button>
      </header>
      <div class="page-scroll">
        <Choices period={period} by={by} measure={measure} />
        {!known && <Skeleton lines={6} />}
        {known && (
          <ListState loading={loading.value} count={found ? 1 : 0} title={text.usage.failedTitle} retry={again}>
            {found && <Shown usage={found} by={by} measure={measure} nameOf={nameOf} />}
          </ListState>
        )}
      </div>
    </div>
  );
}

type NameOf = (group: UsageGroup) => string;

/** Returns what groups are called. The id of what was removed still tells it apart. */
function namer(by: Grouping): NameOf {
  if (by === 'none') return () => text.usage.all;
  if (by === 'model') return ({ id }) => models.row(id)?.peek().name ?? `${text.usage.removedModel} ${shortened(id)}`;
  return ({ id }) => devices.row(id)?.peek().name ?? `${text.usage.removedDevice} ${shortened(id)}`;
}

/** Returns the end of an id, by which it differs from others. */
function shortened(id: string): string {
  return id.length > 12 ? `…${id.slice(-8)}` : id;
}

function Choices({ period, by, measure }: { period: Period; by: Grouping; measure: Measure }) {
  const put = (name: string, usual: string) => (event: Event) => {
    const { value } = event.currentTarget as HTMLSelectElement;
    change({ [name]: value === usual ? null : value });
  };
  return (
    <div class="usage-choices">
      <Choice id="usage-period" label={text.usage.period} value={period} names={text.usage.periods} put={put('period', 'week')} />
      <Choice id="usage-by" label={text.usage.by} value={by} names={text.usage.bys} put={put('by', 'model')} />
      <Choice id="usage-show" label={text.usage.measure} value={measure} names={text.usage.measures} put={put('show', 'tokens')} />
    </div>
  );
}

function Choice({ id, label, value, names, put }: { id: string; label: string; value: string; names: Record<string, string>; put: (event: Event) => void }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={put}>
        {Object.entries(names).map(([key, words]) => (
          <option key={key} value={key}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}

function Shown({ usage, by, measure, nameOf }: { usage: Usage; by: Grouping; measure: Measure; nameOf: NameOf }) {
  if (usage.total.inferences === 0) {
    return (
      <Empty icon="chart" title={text.usage.nothingTitle}>
        <p>{text.usage.nothing}</p>
      </Empty>
    );
  }
  return (
    <>
      {usage.cutAt !== null && <p class="banner quiet">{text.usage.cut(moment(new Date(usage.cutAt).toISOString()))}</p>}
      <Tiles usage={usage} />
      <OverTime usage={usage} measure={measure} nameOf={nameOf} />
      <p class="hint">{text.usage.uncounted(usage.total.uncounted)}</p>
      <h2>{text.usage.totals}</h2>
      <Records label={text.usage.totals} columns={totalColumns(nameOf, text.usage.bys[by])} items={usage.groups} idOf={({ id }) => id} />
    </>
  );
}

function Tiles({ usage: { total } }: { usage: Usage }) {
  const number = (count: number): string => count.toLocaleString('en');
  const tiles = [
    [text.usage.tile.inferences, number(total.inferences), text.usage.uncountedOf(total.uncounted)],
    [text.usage.tile.tokens, number(valueOf(total, 'tokens')), text.usage.tokensOf(total.promptTokens, total.completionTokens)],
    [text.usage.tile.audio, text.usage.seconds(valueOf(total, 'audio')), ''],
    [text.usage.tile.images, number(total.images), ''],
  ] as const;
  return (
    <dl class="usage-tiles">
      {tiles.map(([name, value, more]) => (
        <div key={name} class="card">
          <dt class="soft">{name}</dt>
          <dd class="number">{value}</dd>
          {more !== '' && <dd class="soft small">{more}</dd>}
        </div>
      ))}
    </dl>
  );
}

function OverTime({ usage, measure, nameOf }: { usage: Usage; measure: Measure; nameOf: NameOf }) {
  const { shown, rest, left } = foremost(usage.groups, measure, MOST_BARS);
  if (shown.length === 0) {
    return (
      <Empty icon="chart" title={text.usage.nothingOfTitle}>
        <p>{text.usage.nothingOf}</p>
      </Empty>
    );
  }
  const groups = rest ? [...shown, rest] : shown;
  const titles = groups.map((group) => (group === rest ? text.usage.others(left) : nameOf(group)));
  const bars = groups.map(({ spans }, index) => ({ name: titles[index] ?? '', values: spans.map((sums) => valueOf(sums, measure)) }));
  const summary = summaryOf(usage, measure, shown[0], nameOf);
  const columns: Column<number>[] = [
    { name: text.usage.when, class: 'tight', cell: (place) => spanWords(usage, place) },
    ...bars.map(({ name, values }) => ({ name: name.slice(0, 60), class: 'number', cell: (place: number) => (values[place] ?? 0).toLocaleString('en') })),
  ];
  return (
    <section class="card usage-chart" aria-label={text.usage.tableOf(text.usage.measures[measure])}>
      <p dir="auto">{summary}</p>
      <Chart label={summary} times={usage.begins} bars={bars} />
      <details>
        <summary>{text.usage.table}</summary>
        <div class="usage-table" tabIndex={0} role="group" aria-label={text.usage.table}>
          <Records label={text.usage.table} columns={columns} items={usage.begins.map((_, place) => place)} idOf={(place) => String(place)} />
        </div>
      </details>
    </section>
  );
}

function totalColumns(nameOf: NameOf, title: string): Column<UsageGroup>[] {
  const names = text.usage.columns;
  const column = (name: string, value: (group: UsageGroup) => number): Column<UsageGroup> => ({
    name,
    class: 'tight number',
    cell: (group) => value(group).toLocaleString('en'),
  });
  return [
    { name: title, class: 'wide', cell: (group) => <Foreign>{nameOf(group)}</Foreign> },
    column(names.inferences, ({ total }) => total.inferences),
    column(names.uncounted, ({ total }) => total.uncounted),
    column(names.prompt, ({ total }) => total.promptTokens),
    column(names.completion, ({ total }) => total.completionTokens),
    column(names.audio, ({ total }) => valueOf(total, 'audio')),
    column(names.images, ({ total }) => total.images),
  ];
}
