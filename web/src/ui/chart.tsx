// Charts over time, each with a sentence that says the same, the values at one time, and a table of its numbers. The canvas is for
// the eye. It is drawn by `plot.ts`, which is loaded with the first chart; without a canvas, the legend, the sentence and the table
// are left.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { text } from '../text';
import type { Drawing, Plotted } from './drawing';
import { Foreign } from './parts';
import { Readout } from './readout';
import { Records, type Column } from './records';

import './chart.css';

interface Props {
  title: string;
  /** The same object as long as nothing has changed. */
  drawing: Drawing;
}

export function Chart({ title, drawing }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLUListElement>(null);
  const newest = useRef(drawing);
  const plotted = useSignal<Plotted | null>(null);
  /** The place whose values are read. */
  const at = useSignal<number | null>(null);
  useEffect(() => {
    newest.current = drawing;
    plotted.peek()?.replace(drawing);
    plotted.peek()?.point(at.peek());
  }, [drawing]);
  useEffect(() => {
    const [box, list] = [place.current, legend.current];
    if (!box || !list || !document.createElement('canvas').getContext('2d')) return undefined;
    const ended = new AbortController();
    const loaded = ({ draw }: typeof import('./plot')): void => {
      if (!ended.signal.aborted) plotted.value = draw(box, list, newest.current, ended.signal, (place) => (at.value = place));
    };
    // If the file cannot be loaded, the sentence and the table say the same.
    import('./plot').then(loaded, () => undefined);
    return () => {
      ended.abort();
      plotted.value = null;
    };
  }, []);
  const move = (to: number | null): void => {
    at.value = to;
    plotted.peek()?.point(to);
  };
  const names = drawing.series.map(({ name }) => name);
  return (
    <figure class="chart">
      <div class="chart-frame">
        <div ref={place} class={`chart-canvas ${drawing.kind}`} aria-hidden="true" />
        {plotted.value && <Readout title={title} drawing={drawing} at={at} move={move} />}
      </div>
      <ul ref={legend} class="chart-legend">
        {names.map((name, index) => (
          <li key={index}>
            <span class={`swatch swatch-${index}`} aria-hidden="true" />
            <Foreign>{name}</Foreign>
          </li>
        ))}
        {drawing.range && (
          <li>
            <span class="swatch swatch-range" aria-hidden="true" />
            {drawing.range.name}
          </li>
        )}
      </ul>
    </figure>
  );
}

interface ChartedProps<T> {
  title: string;
  summary: string;
  drawing: Drawing;
  columns: readonly Column<T>[];
  items: readonly T[];
  idOf: (item: T) => string;
}

/** A chart with its sentence, and with its numbers in a table that is drawn when it is opened. */
export function Charted<T>({ title, summary, drawing, columns, items, idOf }: ChartedProps<T>) {
  const open = useSignal(false);
  const label = text.chart.numbersOf(title);
  return (
    <section class="card charted" aria-label={title}>
      <h2>{title}</h2>
      <p dir="auto">{summary}</p>
      <Chart title={title} drawing={drawing} />
      <details onToggle={(event) => (open.value = event.currentTarget.open)}>
        <summary>{label}</summary>
        {open.value && (
          <div class="charted-table" tabIndex={0} role="group" aria-label={label}>
            <Records label={label} columns={columns} items={items} idOf={idOf} />
          </div>
        )}
      </details>
    </section>
  );
}
