// The values of a chart at one time: under the pointer, or where the arrow keys are. It is a slider that changes nothing, so that a
// screen reader says what each key brings.

import { useSignal, type Signal } from '@preact/signals';

import { text } from '../text';
import type { Drawing } from './drawing';
import { Foreign } from './parts';

/** How many places a key goes: the period has hundreds. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity,
};

interface Props {
  title: string;
  drawing: Drawing;
  /** The place that is read, or nothing. */
  at: Signal<number | null>;
  move: (place: number | null) => void;
}

export function Readout({ title, drawing, at, move }: Props) {
  const focused = useSignal(false);
  const last = drawing.times.length - 1;
  const place = Math.min(at.value ?? newestOf(drawing), last);
  const time = drawing.times[place];
  if (time === undefined) return null;
  const pressed = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    move(Math.max(0, Math.min(last, place + step)));
  };
  const values = valuesAt(drawing, place);
  const shown = focused.value || at.value !== null;
  // It is where the line is not.
  const side = (time - drawing.from) * 2 > drawing.to - drawing.from ? 'start' : 'end';
  return (
    <div
      class={`chart-readout ${side}${shown ? '' : ' away'}`}
      role="slider"
      tabIndex={0}
      aria-label={text.chart.valuesOf(title)}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={place}
      aria-valuetext={text.chart.spoken(drawing.when(time), drawing.unit, values.map(({ name, words }) => text.chart.value(name, words)).join(', '))}
      onKeyDown={pressed}
      onFocus={() => {
        focused.value = true;
        move(place);
      }}
      onBlur={() => {
        focused.value = false;
        move(null);
      }}
    >
      {shown && (
        <>
          <p class="small soft">{text.chart.at(drawing.when(time), drawing.unit)}</p>
          {values.map(({ name, words, swatch }) => (
            <p key={swatch} class="small">
              <span class={`swatch ${swatch}`} aria-hidden="true" />
              <Foreign>{name}</Foreign>
              <span class="number">{words}</span>
            </p>
          ))}
        </>
      )}
    </div>
  );
}

/** Returns the last place with a value. */
function newestOf({ times, series }: Drawing): number {
  return Math.max(0, ...series.map(({ values }) => values.findLastIndex((value, place) => value !== null && place < times.length)));
}

function valuesAt({ series, range, format, exact = format }: Drawing, place: number): { name: string; words: string; swatch: string }[] {
  const written = (value: number | null | undefined): string => (value == null ? text.chart.none : exact(value));
  const values = series.map(({ name, values: of }, index) => ({ name, words: written(of[place]), swatch: `swatch-${index}` }));
  if (!range) return values;
  const [low, high] = [range.low[place], range.high[place]];
  const words = low == null || high == null ? text.chart.none : text.chart.range(exact(low), exact(high));
  return [...values, { name: range.name, words, swatch: 'swatch-range' }];
}
