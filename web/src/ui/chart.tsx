// Stacked bars over time. The canvas is for the eye: whoever uses this part has the same numbers in a table. uPlot is loaded
// when the first chart is shown; without a canvas, nothing but the legend is drawn.

import { useEffect, useRef } from 'preact/hooks';

import { Foreign } from './parts';

import './chart.css';

export interface Bars {
  name: string;
  values: number[];
}

interface Props {
  /** What the chart shows, in a sentence. */
  label: string;
  /** The beginnings of the spans, in milliseconds. */
  times: readonly number[];
  bars: readonly Bars[];
}

const HEIGHT = 260;
const SHORT = new Intl.NumberFormat('en', { notation: 'compact' });
const dark = matchMedia('(prefers-color-scheme: dark)');

export function Chart({ label, times, bars }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const box = place.current;
    if (!box || !document.createElement('canvas').getContext('2d')) return undefined;
    const ended = new AbortController();
    void draw(box, legend.current, times, bars, ended.signal);
    return () => ended.abort();
  }, [JSON.stringify(times), JSON.stringify(bars)]);
  return (
    <figure class="chart">
      <div ref={place} class="chart-canvas" role="img" aria-label={label} />
      <ul ref={legend} class="chart-legend">
        {bars.map(({ name }, index) => (
          <li key={index}>
            <span class={`swatch swatch-${index}`} aria-hidden="true" />
            <Foreign>{name}</Foreign>
          </li>
        ))}
      </ul>
    </figure>
  );
}

async function draw(box: HTMLElement, legend: HTMLElement | null, times: readonly number[], bars: readonly Bars[], ended: AbortSignal): Promise<void> {
  const { default: Plot } = await import('uplot');
  await import('uplot/dist/uPlot.min.css');
  if (ended.aborted) return;
  const heights = stacked(bars);
  let plot: InstanceType<typeof Plot> | null = null;
  const make = (): void => {
    plot?.destroy();
    const soft = getComputedStyle(box).color;
    const line = getComputedStyle(box).borderTopColor;
    const swatches = legend ? [...legend.querySelectorAll('.swatch')] : [];
    const colours = swatches.map((swatch) => getComputedStyle(swatch).backgroundColor);
    const axis = { stroke: soft, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    // The highest pile is drawn first, and each lower one over it.
    const order = bars.map((_, index) => index).reverse();
    plot = new Plot(
      {
        width: box.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: true }, y: { range: (_, __, most) => [0, Math.max(most, 1) * 1.05] } },
        axes: [axis, { ...axis, size: 52, values: (_, splits) => splits.map((value) => SHORT.format(value)) }],
        series: [
          {},
          ...order.map((index) => ({
            stroke: colours[index] ?? soft,
            fill: colours[index] ?? soft,
            width: 0,
            points: { show: false },
            paths: Plot.paths.bars?.({ size: [0.7, 48], align: 1 }) ?? (() => null),
          })),
        ],
      },
      [times.map((time) => time / 1000), ...order.map((index) => heights[index] ?? [])],
      box,
    );
  };
  const resized = new ResizeObserver(() => plot?.setSize({ width: box.clientWidth, height: HEIGHT }));
  make();
  resized.observe(box);
  dark.addEventListener('change', make, { signal: ended });
  ended.addEventListener('abort', () => {
    resized.disconnect();
    plot?.destroy();
  });
}

/** Returns the height at which each bar ends, with those before it below. */
function stacked(bars: readonly Bars[]): number[][] {
  const below = new Array<number>(bars[0]?.values.length ?? 0).fill(0);
  return bars.map(({ values }) => values.map((value, place) => (below[place] = (below[place] ?? 0) + value)));
}
