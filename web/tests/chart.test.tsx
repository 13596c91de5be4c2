// What is drawn on the canvas: gaps, ranges and axes as uPlot is told, loaded with the first chart and ended with it.

import type { Options } from 'uplot';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Charted } from '../src/ui/chart';
import type { Drawing } from '../src/ui/drawing';
import { HOSTILE } from './fixtures';
import { accessible, blank, show } from './page';

interface Made {
  options: Options;
  data: (number | null)[][];
  /** Where its line is. */
  left: number;
  ended: boolean;
}

const made = vi.hoisted<Made[]>(() => []);

vi.mock('uplot', () => {
  class Plot {
    static paths = { bars: () => () => null };
    static tzDate = (date: Date): Date => date;
    private readonly mine: Made;
    constructor(options: Options, readonly data: (number | null)[][]) {
      this.mine = { options, data, left: -10, ended: false };
      made.push(this.mine);
    }
    setSize(): void {}
    setCursor({ left }: { left: number }): void {
      this.mine.left = left;
    }
    valToPos(value: number): number {
      return value / 86_400;
    }
    destroy(): void {
      this.mine.ended = true;
    }
  }
  return { default: Plot };
});

const DAY = 86_400_000;
const lines: Drawing = {
  kind: 'lines', times: [DAY, 2 * DAY, 3 * DAY], from: 0, to: 4 * DAY, series: [{ name: 'Average', values: [1, null, 3] }],
  range: { name: 'Range', low: [0, null, 2], high: [5, null, 6] }, most: 100, format: (value) => `${value} %`, when: (time) => `day ${time / DAY}`,
};
const bars: Drawing = {
  kind: 'bars', times: [DAY, 2 * DAY], from: DAY, to: 3 * DAY, utc: true, format: String, exact: (value) => value.toFixed(1), unit: 'tokens', when: (time) => `day ${time / DAY}`,
  series: [{ name: 'a', values: [1, 2] }, { name: 'b', values: [10, 20] }],
};

describe('a chart', () => {
  let root: HTMLElement;
  const chart = (drawing: Drawing, title = 'CPU') => (
    <Charted title={title} summary="It says so." drawing={drawing} columns={[{ name: 'Begins', cell: String }]} items={[1, 2]} idOf={String} />
  );

  beforeEach(() => {
    made.length = 0;
    root = blank('viewer');
    vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue({} as never);
  });
  afterEach(() => {
    show(root, null);
    vi.restoreAllMocks();
  });

  async function drawn(count = 1): Promise<Made> {
    await vi.waitFor(() => expect(made).toHaveLength(count));
    return made[count - 1] as Made;
  }

  it('leaves gaps in a line and in the range behind it, and draws a lonely value as a point', async () => {
    show(root, chart(lines));
    const { options, data } = await drawn();
    expect(data).toEqual([[86_400, 172_800, 259_200], [1, null, 3], [5, null, 6], [0, null, 2]]);
    expect(options.bands?.[0]?.series).toEqual([2, 3]);
    expect(options.series.every((series) => !series.spanGaps)).toBe(true);
    const filter = options.series[1]?.points?.filter as (plot: unknown, index: number) => number[];
    expect(filter({ data }, 1)).toEqual([0, 2]);
    expect(filter({ data: [[], [1, 2, null, 4]] }, 1)).toEqual([3]);
    await accessible();
  });

  it('has the whole period and the whole scale, whatever was measured', async () => {
    show(root, chart(lines));
    const { options } = await drawn();
    const range = (name: string) => (options.scales?.[name]?.range as (...of: unknown[]) => number[])(null, 1, 3);
    expect(range('x')).toEqual([0, 345_600]);
    expect(range('y')).toEqual([0, 100]);
    const labels = (axis: number, ...more: number[]) => (options.axes?.[axis]?.values as (...of: unknown[]) => string[])(null, [0, 50], 0, 0, ...more);
    expect(labels(1)).toEqual(['0 %', '50 %']);
  });

  it('stacks bars, the highest pile first, and names days as the backend counts them', async () => {
    show(root, chart(bars));
    const { options, data } = await drawn();
    expect(data).toEqual([[86_400, 172_800], [11, 22], [1, 2]]);
    expect(options.tzDate).toBeDefined();
    const labels = (options.axes?.[0]?.values as (...of: unknown[]) => string[])(null, [0, 43_200, 86_400], 0, 0, 43_200);
    expect(labels).toEqual(['Jan 1', '12:00', 'Jan 2']);
  });

  it('replaces its numbers, and ends with its page', async () => {
    show(root, chart(lines));
    await drawn();
    show(root, chart(lines));
    show(root, chart({ ...lines, series: [{ name: 'Average', values: [7, 8, 9] }] }));
    const second = await drawn(2);
    expect(second.data[1]).toEqual([7, 8, 9]);
    expect(made.map(({ ended }) => ended)).toEqual([true, false]);
    show(root, null);
    await vi.waitFor(() => expect(second.ended).toBe(true));
  });

  it('reads the values at the place of the arrow keys, with units and the time, and hides them afterwards', async () => {
    show(root, chart(lines));
    const { options } = await drawn();
    const readout = (): HTMLElement => root.querySelector('[role=slider]') as HTMLElement;
    await vi.waitFor(() => expect(readout().getAttribute('aria-label')).toBe('Values over time: CPU'));
    expect(readout().getAttribute('aria-valuetext')).toBe('day 3: Average 3 %, Range 2 % to 6 %');
    expect(readout().textContent).toBe('');
    await accessible();
    const key = async (name: string, words: string): Promise<void> => {
      readout().dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
      await vi.waitFor(() => expect(readout().getAttribute('aria-valuetext')).toBe(words));
    };
    readout().focus();
    await vi.waitFor(() => expect(readout().textContent).toBe('day 3Average3 %Range2 % to 6 %'));
    expect(made[0]?.left).toBe(3);
    await key('ArrowLeft', 'day 2: Average no value, Range no value');
    expect(made[0]?.left).toBe(2);
    await key('Home', 'day 1: Average 1 %, Range 0 % to 5 %');
    expect(readout().className).toContain('end');
    await key('ArrowLeft', 'day 1: Average 1 %, Range 0 % to 5 %');
    await key('PageUp', 'day 3: Average 3 %, Range 2 % to 6 %');
    expect(readout().className).toContain('start');
    expect(readout().getAttribute('style')).toBeNull();
    await accessible();
    readout().blur();
    await vi.waitFor(() => expect(readout().textContent).toBe(''));
    expect(made[0]?.left).toBe(-10);
    expect(options.cursor?.drag).toEqual({ x: false, y: false, setScale: false });
  });

  it('reads what is under the pointer: the nearest value of a line, and the bar that the pointer is over', async () => {
    show(root, chart(bars));
    const { options } = await drawn();
    await vi.waitFor(() => expect(root.querySelector('[role=slider]')).not.toBeNull());
    const move = (left: number, idx: number | null): void => options.hooks?.setCursor?.[0]?.({ cursor: { left, idx }, posToVal: () => left } as never);
    const words = (): string | null | undefined => root.querySelector('[role=slider]')?.textContent;
    // Nearer to the beginning of the second day, and still over the bar of the first.
    move(86_400 * 1.8, 1);
    await vi.waitFor(() => expect(words()).toBe('day 1 · tokensa1.0b10.0'));
    expect(root.querySelector('[role=slider]')?.getAttribute('aria-valuetext')).toBe('day 1, in tokens: a 1.0, b 10.0');
    move(86_400 * 2.1, 1);
    await vi.waitFor(() => expect(words()).toBe('day 2 · tokensa2.0b20.0'));
    move(-10, null);
    await vi.waitFor(() => expect(words()).toBe(''));
  });

  it('has names and sentences without a canvas', async () => {
    vi.mocked(HTMLCanvasElement.prototype.getContext).mockReturnValue(null);
    for (const name of HOSTILE) {
      show(root, chart({ ...bars, series: [{ name, values: [1, 2] }] }));
      expect(root.querySelector('img')).toBeNull();
      expect(root.querySelector('.chart-legend')?.textContent).not.toMatch(/[\u0000\u202e\u200b]/);
      expect(root.querySelector('.chart-legend')?.textContent?.length).toBeLessThanOrEqual(500);
    }
    await accessible();
    expect(made).toEqual([]);
  });

  it('says its sentence once: the canvas is for the eye', async () => {
    show(root, chart(lines));
    await drawn();
    expect(root.querySelector('.chart-canvas')?.getAttribute('aria-hidden')).toBe('true');
    expect(root.innerHTML.split('It says so.')).toHaveLength(2);
    await accessible();
  });

  it('has its table only while it is open', async () => {
    show(root, chart(lines));
    expect(root.querySelector('table')).toBeNull();
    const details = root.querySelector('details');
    details?.setAttribute('open', '');
    await vi.waitFor(() => expect(root.querySelectorAll('tbody tr')).toHaveLength(2));
    await accessible();
    details?.removeAttribute('open');
    await vi.waitFor(() => expect(root.querySelector('table')).toBeNull());
  });
});
