// Charts on a canvas: stacked bars, or lines with a range behind them. This file is loaded with the first chart, and uPlot
// with it. uPlot sets styles through the CSSOM, as the policy of the pages demands. Colours come from the style sheet.

import Plot from 'uplot';

import 'uplot/dist/uPlot.min.css';

import { locale } from '../text';
import type { Drawing, Plotted, Pointed, Series } from './drawing';

type Values = (number | null)[];

/** How far the labels of an axis of days may be apart, in seconds: a day has no hours there. */
const DAYS = [1, 2, 7, 14, 30].map((days) => days * 86_400);

const dark = matchMedia('(prefers-color-scheme: dark)');

/** Where no line is drawn. */
const NOWHERE = { left: -10, top: -10 };

/** Draws a chart into `box` until `ended` is aborted. The swatches of the legend have the colours. */
export function draw(box: HTMLElement, legend: HTMLElement, first: Drawing, ended: AbortSignal, pointed: Pointed): Plotted {
  let drawing = first;
  let plot: Plot | null = null;
  const make = (): void => {
    plot?.destroy();
    plot = new Plot(optionsOf(drawing, box, legend, pointed), dataOf(drawing), box);
  };
  const resized = new ResizeObserver(() => plot?.setSize({ width: box.clientWidth, height: box.clientHeight }));
  make();
  resized.observe(box);
  dark.addEventListener('change', make, { signal: ended });
  ended.addEventListener('abort', () => {
    resized.disconnect();
    plot?.destroy();
  });
  return {
    replace: (next) => {
      drawing = next;
      make();
    },
    point: (place) => {
      const time = place === null ? undefined : drawing.times[place];
      plot?.setCursor(time === undefined ? NOWHERE : { left: plot.valToPos(time / 1000, 'x'), top: 0 }, false);
    },
  };
}

function optionsOf(drawing: Drawing, box: HTMLElement, legend: HTMLElement, pointed: Pointed): Plot.Options {
  const { from, to, most, format, utc = false } = drawing;
  const soft = getComputedStyle(box).color;
  const line = getComputedStyle(box).borderTopColor;
  const colours = [...legend.querySelectorAll('.swatch')].map((swatch) => getComputedStyle(swatch).backgroundColor);
  const colourOf = (index: number): string => colours[index] ?? soft;
  const axis = { stroke: soft, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const zone = utc ? { timeZone: 'UTC' } : {};
  return {
    width: box.clientWidth,
    height: box.clientHeight,
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false, setScale: false } },
    hooks: { setCursor: [(plot) => pointed(placeUnder(plot, drawing))] },
    ...(utc ? { tzDate: (seconds: number) => Plot.tzDate(new Date(seconds * 1000), 'UTC') } : {}),
    scales: {
      x: { time: true, range: () => [from / 1000, to / 1000] },
      y: { range: (_, __, highest) => [0, most ?? Math.max(highest, 1) * 1.05] },
    },
    axes: [
      { ...axis, ...(utc ? { incrs: DAYS } : {}), size: 36, values: (_, splits, __, ___, step) => times(splits, step, zone) },
      { ...axis, size: (_, labels) => widthOf(labels), values: (_, splits) => splits.map(format) },
    ],
    ...(drawing.kind === 'bars' ? bars(drawing, colourOf) : lines(drawing, colourOf)),
  };
}

/** Returns the place under the pointer: the nearest value of a line, or the bar, which is as wide as its span. */
function placeUnder(plot: Plot, { kind, times: begins }: Drawing): number | null {
  const { left = NOWHERE.left, idx } = plot.cursor;
  if (left < 0 || idx == null) return null;
  if (kind === 'lines') return idx;
  const time = plot.posToVal(left, 'x') * 1000;
  return Math.max(0, begins.findLastIndex((begin) => begin <= time));
}

function dataOf({ kind, times: begins, series, range }: Drawing): Plot.AlignedData {
  const seconds = begins.map((time) => time / 1000);
  if (kind === 'bars') return [seconds, ...stacked(series).reverse()];
  return [seconds, ...series.map(({ values }) => [...values]), ...(range ? [[...range.high], [...range.low]] : [])];
}

/** The highest pile is drawn first, and each lower one over it. */
function bars({ series }: Drawing, colourOf: (index: number) => string): Pick<Plot.Options, 'series'> {
  const columns = series.map((_, index) => ({
    stroke: colourOf(index),
    fill: colourOf(index),
    width: 0,
    points: { show: false },
    paths: Plot.paths.bars?.({ size: [0.7, 48], align: 1 }) ?? (() => null),
  }));
  return { series: [{}, ...columns.reverse()] };
}

function lines({ series, range }: Drawing, colourOf: (index: number) => string): Pick<Plot.Options, 'series' | 'bands'> {
  const strokes = series.map((_, index) => ({ stroke: colourOf(index), width: 2, points: { show: false, filter: lonely, size: 5, fill: colourOf(index) } }));
  if (!range) return { series: [{}, ...strokes] };
  const edge = { width: 0, points: { show: false } };
  const high = strokes.length + 1;
  return { series: [{}, ...strokes, edge, edge], bands: [{ series: [high, high + 1], fill: colourOf(series.length) }] };
}

/** Returns the places of values without a neighbour. No line goes through them, so they are drawn as points. */
function lonely(plot: Plot, index: number): number[] {
  const values = (plot.data[index] ?? []) as Values;
  return values.flatMap((value, place) => (value != null && values[place - 1] == null && values[place + 1] == null ? [place] : []));
}

/** Returns the height at which each bar ends, with those before it below. */
function stacked(series: readonly Series[]): Values[] {
  const below = new Array<number>(series[0]?.values.length ?? 0).fill(0);
  return series.map(({ values }) => values.map((value, place) => (below[place] = (below[place] ?? 0) + (value ?? 0))));
}

/** Returns the width of the vertical axis in pixels, for labels in the font of uPlot. Before the first drawing there are none. */
function widthOf(labels: readonly string[] | null): number {
  return 20 + 8 * Math.max(3, ...(labels ?? []).map(({ length }) => length));
}

/** Returns the labels of times that are `step` seconds apart: hours of a day, and the day where one begins. */
function times(seconds: number[], step: number, zone: { timeZone?: string }): string[] {
  const day = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', ...zone });
  const clock = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...zone });
  return seconds.map((second) => {
    const date = new Date(second * 1000);
    const hour = clock.format(date);
    return step >= 86_400 || hour === '00:00' ? day.format(date) : hour;
  });
}
