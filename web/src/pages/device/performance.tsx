// The load of a device over a period: a chart for each reading that the device measures. The period is in the address. It is
// loaded anew while the page is in sight, as often as it can have a new point.

import { useMemo } from 'preact/hooks';

import { awayFor, figuresOf, loadMetrics, PERIODS, READINGS, sizeOf, stepsOf, UNITS, type Figures, type Period, type Reading, type Step } from '../../data/metrics';
import { stateOf } from '../../data/selection';
import type { Device, DeviceMetrics } from '../../data/types';
import { language, text } from '../../text';
import { bytes, percent } from '../../text/format';
import { span } from '../../text/span';
import { Charted } from '../../ui/chart';
import type { Drawing } from '../../ui/drawing';
import { useLoaded } from '../../ui/loaded';
import { Empty } from '../../ui/parts';
import { ListState, type Column } from '../../ui/records';
import { path, query } from '../../ui/router';

import './performance.css';

const USUAL: Period = '1h';
const MINUTE = 60_000;
/** How often a period is loaded anew, in milliseconds: as often as it has a new point. The last hour is the exception: its points
 * are 10 s long, but a device sends a sample once a minute. */
const EVERY: Record<Period, number> = { '1h': MINUTE / 2, '24h': 3 * MINUTE, '7d': 30 * MINUTE, '30d': 90 * MINUTE };
const CLOCK = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const DAY_AND_CLOCK = new Intl.DateTimeFormat(language, { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

export function Performance({ device }: { device: Device }) {
  const period = PERIODS.find((known) => known === query.value.get('period')) ?? USUAL;
  const id = device.device_id;
  const { value, loading, again } = useLoaded(`${id} ${period}`, (signal) => loadMetrics(id, period, signal), { every: EVERY[period] });
  return (
    <div class="performance">
      <Periods period={period} />
      <ListState loading={loading} count={value ? 1 : 0} title={text.performance.failedTitle} retry={again}>
        {value && <Shown metrics={value} period={period} offline={stateOf(device) === 'offline'} />}
      </ListState>
    </div>
  );
}

/** The periods are addresses, so they are links: Back and a pasted link give the same period. */
function Periods({ period }: { period: Period }) {
  return (
    <nav class="periods" aria-label={text.performance.periods}>
      {PERIODS.map((one) => (
        <a key={one} href={`${path.value}?tab=performance${one === USUAL ? '' : `&period=${one}`}`} aria-current={one === period ? 'true' : undefined}>
          {text.performance.period[one]}
        </a>
      ))}
    </nav>
  );
}

function Shown({ metrics, period, offline }: { metrics: DeviceMetrics; period: Period; offline: boolean }) {
  const words = text.performance;
  if (metrics.points.length === 0) {
    return (
      <Empty icon="chart" title={words.nothingTitle}>
        <p>{period === '30d' ? words.nothingEver : words.nothing}</p>
      </Empty>
    );
  }
  const away = awayFor(metrics);
  return (
    <>
      {offline && <p class="banner quiet">{words.offline}</p>}
      <p class="soft small">
        {away > 0 ? words.awayFor(span(away)) : words.whole} {words.live[period]}
      </p>
      <div class="performance-charts">
        {READINGS.map((reading) => {
          const figures = figuresOf(metrics, reading);
          return figures && <OneReading key={reading} metrics={metrics} reading={reading} figures={figures} period={period} />;
        })}
      </div>
    </>
  );
}

function OneReading({ metrics, reading, figures, period }: { metrics: DeviceMetrics; reading: Reading; figures: Figures; period: Period }) {
  const words = text.performance;
  const name = words.readings[reading];
  const size = sizeOf(metrics, reading);
  const steps = useMemo(() => stepsOf(metrics, reading), [metrics, reading]);
  const when = (period === '1h' || period === '24h' ? CLOCK : DAY_AND_CLOCK).format;
  const drawing = useMemo(() => drawingOf(metrics, reading, steps, when), [metrics, reading, steps]);
  const value = (which: 'min' | 'avg' | 'max') => (step: Step) => (step.values ? valueWords(reading, step.values[which]) : '–');
  const columns: Column<Step>[] = [
    { name: text.chart.begins, class: 'tight', cell: ({ at }) => when(at) },
    { name: words.average, class: 'tight number', cell: (step) => (step.values ? value('avg')(step) : words.away) },
    { name: words.lowest, class: 'tight number', cell: value('min') },
    { name: words.highest, class: 'tight number', cell: value('max') },
  ];
  const newest = valueWords(reading, figures.newest);
  const whole = size === null ? null : bytes(size);
  const begins = figures.isNow ? words.now(newest, whole) : words.last(newest, whole, when(figures.newestAt));
  const summary = words.summary(begins, valueWords(reading, figures.average), valueWords(reading, figures.most), when(figures.mostAt));
  return <Charted title={name} summary={summary} drawing={drawing} columns={columns} items={steps} idOf={({ at }) => String(at)} />;
}

function drawingOf(metrics: DeviceMetrics, reading: Reading, steps: readonly Step[], when: (time: number) => string): Drawing {
  const most = UNITS[reading] === 'percent' ? 100 : sizeOf(metrics, reading);
  const values = (which: 'min' | 'avg' | 'max'): (number | null)[] => steps.map((step) => step.values?.[which] ?? null);
  return {
    kind: 'lines',
    times: steps.map(({ at }) => at),
    from: Date.parse(metrics.from),
    to: Date.parse(metrics.to),
    series: [{ name: text.performance.average, values: values('avg') }],
    range: { name: text.performance.range, low: values('min'), high: values('max') },
    ...(most === null ? {} : { most }),
    format: (value) => valueWords(reading, value),
    when,
  };
}

function valueWords(reading: Reading, value: number): string {
  switch (UNITS[reading]) {
    case 'percent':
      return percent(value);
    case 'bytes':
      return bytes(value);
    case 'celsius':
      return text.performance.celsius(Math.round(value));
  }
}
