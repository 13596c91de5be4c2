// What is drawn on the canvas: gaps, ranges and axes as uPlot is told, loaded with the first chart and ended with it.

import type { Options } from 'uplot';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Charted, type Drawing } from '../src/ui/chart';
import { HOSTILE } from './fixtures';
import { accessible, blank, show } from './page';

interface Made {
  options: Options;
  data: (number | null)[][];
  ended: boolean;
}

const made = vi.hoisted<Made[]>(() => []);

vi.mock('uplot', () => {
  class Plot {
    static paths = { bars: () => () => null };
    static tzDate = (date: Date): Date => date;
    private readonly mine: Made;
    constructor(options: Options, readonly data: (number | null)[][]) {
      this.mine = { options, data, ended: false };
      made.push(this.mine);
    }
    setSize(): void {}
    destroy(): void {
      this.mine.ended = true;
    }
  }
  return { default: Plot };
});

const DAY = 86_400_000;
const lines: Drawing = {
  kind: 'lines', times: [DAY, 2 * DAY, 3 * DAY], from: 0, to: 4 * DAY, series: [{ name: 'Average', values: [1, null, 3] }],
  range: { name: 'Range', low: [0, null, 2], high: [5, null, 6] }, most: 100, format: (value) => `${value} %`,
};
const bars: Drawing = {
  kind: 'bars', times: [DAY, 2 * DAY], from: DAY, to: 3 * DAY, utc: true, format: String,
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
