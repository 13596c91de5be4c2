// The page of usage: groups as the backend makes them, units apart, what is uncounted apart, percentiles never added up.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { UsageFigures, UsageGroup, UsageGroups } from '../src/data/types';
import { BUCKETS, PERIODS, partsOf, spansOf, valueOf, type Usage } from '../src/data/usage';
import { UsagePage } from '../src/pages/usage/page';
import { amountWords, groupWords, summaryOf } from '../src/pages/usage/words';
import { change, go, listen } from '../src/ui/router';
import { backend, type Asked, type Backend } from './backend';
import { HOSTILE } from './fixtures';
import { accessible, blank, press, says, show, type } from './page';
import { savedFiles } from './saved_files';
import { spaced } from './spaced';

vi.mock('../src/ui/plot', () => ({ draw: () => ({ replace: () => undefined, point: () => undefined }) }));

const NOW = Date.parse('2026-11-20T10:30:00Z');
const DAYS = ['2026-11-19', '2026-11-20'].map((day) => `${day}T00:00:00Z`);
type Plain = Partial<Omit<UsageFigures, 'first_token_ms' | 'token_rate'>> & { first?: [number, number]; rate?: [number, number] };

function figures({ first, rate, ...more }: Plain = {}): UsageFigures {
  const inferences = more.inferences ?? 0;
  const uncounted = more.uncounted ?? 0;
  const distribution = (of: [number, number] | undefined) => ({ counts: [], p50: of?.[0] ?? null, p95: of?.[1] ?? null });
  return {
    inferences, uncounted, counted: inferences - uncounted, prompt_tokens: 0, completion_tokens: 0, audio_ms: 0, images: 0, duration_ms: 0,
    ...more, first_token_ms: distribution(first), token_rate: distribution(rate),
  };
}

/** A group whose usage is all in its last span. */
function group(key: string | null, more: Plain = {}, name: string | null = key): UsageGroup {
  const total = figures({ inferences: 2, ...more });
  return { key, name, total, buckets: DAYS.map((begin, place) => ({ begin, ...(place === DAYS.length - 1 ? total : figures()) })) };
}

function answer(groups: UsageGroup[], more: Partial<UsageGroups> = {}): UsageGroups {
  return {
    group_by: 'model', bucket: 'day', from: DAYS[0] ?? '', to: '2026-11-21T00:00:00Z', first_token_bounds_ms: [50, 30_000], token_rate_bounds: [2, 500],
    groups, others: group(null, { inferences: 0 }), ...more,
  };
}

function usage(groups: UsageGroup[], all: Plain, more: Partial<UsageGroups> = {}): Usage {
  return { answer: answer(groups, more), all: group(null, all) };
}

describe('usage', () => {
  it('is asked for in whole spans, of which the newest is now', () => {
    expect(spansOf('week', 'day', NOW)).toEqual({ from: '2026-11-14T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' });
    expect(spansOf('day', 'hour', NOW)).toEqual({ from: '2026-11-19T11:00:00.000Z', to: '2026-11-20T11:00:00.000Z' });
    // What the overview counts: from midnight on.
    expect(spansOf('today', 'hour', NOW)).toEqual({ from: '2026-11-20T00:00:00.000Z', to: '2026-11-20T11:00:00.000Z' });
    expect(spansOf('today', 'hour', Date.parse('2026-11-20T00:00:00Z'))).toEqual({ from: '2026-11-20T00:00:00.000Z', to: '2026-11-20T01:00:00.000Z' });
    const most = Math.max(...PERIODS.flatMap((period) => BUCKETS[period].map((bucket) => {
      const { from, to } = spansOf(period, bucket, NOW);
      return (Date.parse(to) - Date.parse(from)) / (bucket === 'hour' ? 3_600_000 : 86_400_000);
    })));
    expect(most).toBeLessThanOrEqual(400);
  });

  it('keeps its sum when the smallest groups become one', () => {
    const groups = [1, 2, 3, 4].map((images) => group(`m${images}`, { images }));
    const parts = partsOf(usage(groups, { images: 15 }, { others: group(null, { images: 5 }) }), 'images', 2);
    expect(parts.map((part) => [part.group?.key, part.values])).toEqual([['m4', [0, 4]], ['m3', [0, 3]], [undefined, [0, 8]]]);
    expect(partsOf(usage(groups, {}), 'audio', 2)).toEqual([]);
  });

  it('never makes a percentile of several percentiles', () => {
    const groups = [group('a', { first: [100, 900] }), group('b', {}), group('c', { first: [50, 60] }), group('d', { first: [1, 2] })];
    const parts = partsOf(usage(groups, {}, { others: group(null, { first: [7, 8] }) }), 'first_token_p95', 2);
    expect(parts.map((part) => [part.group?.key, part.values])).toEqual([['a', [null, 900]], ['c', [null, 60]]]);
  });

  it('has a unit for each measure, and audio in seconds', () => {
    const some = figures({ inferences: 3, prompt_tokens: 1, completion_tokens: 2, audio_ms: 1_600, images: 4, first: [5, 6], rate: [7, 8] });
    const measures = ['tokens', 'inferences', 'audio', 'images', 'first_token_p50', 'first_token_p95', 'token_rate_p50', 'token_rate_p95'] as const;
    expect(measures.map((measure) => valueOf(some, measure))).toEqual([3, 3, 2, 4, 5, 6, 7, 8]);
    expect(amountWords(1_234.5, 'first_token_p50', 30_000)).toBe('1,235\u00a0ms');
    expect(amountWords(30_000, 'first_token_p95', 30_000)).toBe('≥\u00a030.0\u00a0s');
    expect(amountWords(12.34, 'token_rate_p50', 500)).toBe('12.3/s');
    expect(amountWords(null, 'token_rate_p50', 500)).toBe('–');
  });

  it('is summed up in a sentence, the slowest first where less or more is slower', () => {
    const all = { prompt_tokens: 200, first: [300, 800], rate: [20, 40] } as Plain;
    const groups = [group('fast', { prompt_tokens: 150, first: [100, 200], rate: [50, 60] }), group('slow', { prompt_tokens: 50, first: [700, 800], rate: [5, 6] })];
    const of = (measure: 'tokens' | 'first_token_p95' | 'token_rate_p50'): string => {
      const some = usage(groups, all);
      return spaced(summaryOf(some, measure, partsOf(some, measure, 6)));
    };
    expect(of('tokens')).toBe('Tokens: 200. Most by fast (75 %). Highest on Fri, Nov 20.');
    expect(of('first_token_p95')).toBe('Time to first token (p95): 800 ms. Slowest: slow (800 ms). Slowest on Fri, Nov 20.');
    expect(of('token_rate_p50')).toContain('20.0/s. Slowest: slow (5.0/s).');
  });

  it('names the slowest group although the chart does not show it', () => {
    const some = usage(['a', 'b', 'c'].map((key, index) => group(key, { first: [index, index * 100] })), { first: [1, 2] });
    expect(spaced(summaryOf(some, 'first_token_p95', partsOf(some, 'first_token_p95', 2)))).toContain('Slowest: c (200 ms).');
  });

  it('has a name for what was removed and for devices without a tag', () => {
    expect(groupWords(group('mdl_0123456789', {}, null), 'model')).toBe('Removed model …23456789');
    expect(groupWords(group('dev_a', {}, null), 'device')).toBe('Removed device dev_a');
    expect(groupWords(group('lab', {}, null), 'tag')).toBe('lab');
    expect(groupWords(group(null), 'tag')).toBe('No tag');
    expect(groupWords(null, 'tag')).toBe('Others');
  });
});

describe('the page of usage', () => {
  const files = savedFiles();
  let root: HTMLElement;
  let served: Backend;
  const total = { inferences: 5, uncounted: 1, prompt_tokens: 20, completion_tokens: 40, audio_ms: 5_000, first: [120, 900], rate: [30, 55] } as Plain;

  /** Answers with groups, and with `whole` to the question for everything. */
  function answers(groups: UsageGroup[], whole: Plain = total, more: Partial<UsageGroups> = {}): void {
    served.answers['/usage'] = ({ query }: Asked) => {
      const by = (query.get('group_by') ?? 'model') as UsageGroups['group_by'];
      const bucket = (query.get('bucket') ?? 'hour') as UsageGroups['bucket'];
      const document = by === 'none' ? answer([group(null, whole)], { others: null }) : answer(groups, more);
      return [200, { ...document, group_by: by, bucket }];
    };
  }

  beforeEach(() => {
    served = backend();
    answers([group('mdl_a', { prompt_tokens: 10, completion_tokens: 20, first: [100, 200] }, 'tiny'), group('mdl_b', { completion_tokens: 20, audio_ms: 5_000 }, null)], total, {
      others: group(null, { inferences: 1, completion_tokens: 10 }),
    });
    root = blank('viewer');
    go('/usage');
  });
  afterEach(() => {
    show(root, null);
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  it('has a chart with a sentence, its numbers, and totals with the others', async () => {
    show(root, <UsagePage />);
    expect(root.querySelector('.skeleton')).not.toBeNull();
    await accessible();
    await says('Tokens: 60. Most by tiny (50 %).');
    await says('4 counted, 1 uncounted');
    await says('1 inference is uncounted');
    await says('Removed model mdl_b');
    await says('Others');
    await says('p95: 900 ms');
    expect(root.querySelector('.charted')?.getAttribute('aria-label')).toBe('Tokens');
    const heads = [...root.querySelectorAll('.usage-totals th')].map((one) => one.textContent);
    expect(heads).toContain('First token p50/p95');
    // All inferences are both together.
    expect(heads.slice(1, 3)).toEqual(['Counted', 'Uncounted']);
    await says('100 ms / 200 ms– / –');
    expect(root.querySelector('.charted-table')).toBeNull();
    await accessible();
    root.querySelector('details')?.setAttribute('open', '');
    await vi.waitFor(() => expect(root.querySelector('.charted-table')).not.toBeNull());
    expect([...root.querySelectorAll('.charted-table tbody tr')].map((row) => row.textContent)).toEqual(['Thu, Nov 19000', 'Fri, Nov 20302010']);
    await accessible();
    expect(root.querySelector('[style]')).toBeNull();
  });

  it('asks the backend for the groups and for everything, and for nothing else', async () => {
    show(root, <UsagePage />);
    await says('Tokens: 60.');
    expect(served.asked.map(({ path, query }) => [path, query.get('group_by'), query.get('bucket')])).toEqual([['/usage', 'none', 'day'], ['/usage', 'model', 'day']]);
    const [first, second] = served.asked;
    expect(first?.query.get('from')).toBe(second?.query.get('from'));
    change({ by: 'none' });
    await vi.waitFor(() => expect(served.asked).toHaveLength(3));
    await says('Tokens: 60.');
  });

  it('has the unit once beside the values of a chart, and a percentile with its own', async () => {
    vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue({} as never);
    const spoken = (): string => spaced(root.querySelector('[role=slider]')?.getAttribute('aria-valuetext'));
    show(root, <UsagePage />);
    await vi.waitFor(() => expect(spoken()).toBe('Fri, Nov 20, in tokens: tiny 30, Removed model mdl_b 20, Others 10'));
    await type('Measure', 'first_token_p50');
    await vi.waitFor(() => expect(spoken()).toBe('Fri, Nov 20: tiny 100 ms'));
    await accessible();
  });

  it('is loaded anew while it is in sight', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    show(root, <UsagePage />);
    await says('Tokens: 60.');
    answers([group('mdl_a', { completion_tokens: 90 }, 'tiny')], { inferences: 6, completion_tokens: 90 });
    await vi.advanceTimersByTimeAsync(60_000);
    await says('Tokens: 90.');
    show(root, null);
    // The effects of a page that was taken away end a moment later.
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(0));
    const before = served.asked.length;
    await vi.advanceTimersByTimeAsync(600_000);
    expect(served.asked).toHaveLength(before);
  });

  it('has period, grouping, span and measure in the address', async () => {
    go('/usage?period=week&by=tag&bucket=hour&show=first_token_p95');
    show(root, <UsagePage />);
    await says('Time to first token (p95): 900 ms.');
    await says('A device counts in each of its tags');
    expect(served.to('/usage').map(({ query }) => query.get('bucket'))).toEqual(['hour', 'hour']);
    await type('Period', 'month');
    expect(location.search).toBe('?period=month&by=tag&show=first_token_p95');
    await vi.waitFor(() => expect(served.to('/usage').at(-1)?.query.get('bucket')).toBe('day'));
    await type('Measure', 'tokens');
    expect(location.search).toBe('?period=month&by=tag');
    listen();
    await says('Tokens: 60.');
    history.back();
    await says('Time to first token (p95): 900 ms.');
    expect(location.search).toBe('?period=month&by=tag&show=first_token_p95');
    go('/usage?period=quarter&bucket=hour&by=nonsense');
    await vi.waitFor(() => expect(served.to('/usage').at(-1)?.query.get('group_by')).toBe('model'));
    expect(served.to('/usage').at(-1)?.query.get('bucket')).toBe('day');
  });

  it('offers audio and images only where there are any', async () => {
    show(root, <UsagePage />);
    await says('Tokens: 60.');
    const options = (): string[] => [...root.querySelectorAll('#usage-show option')].map((one) => one.textContent ?? '');
    expect(options()).toContain('Seconds of audio');
    expect(options()).not.toContain('Images');
    expect(root.querySelector('.usage-tiles')?.textContent).not.toContain('Images');
    change({ show: 'images' });
    await says('Nothing of this kind in this period');
    await accessible();
  });

  it('is empty, or fails in the backend’s words and tries again', async () => {
    served.answers['/usage'] = [503, { status: 503, detail: 'the backend is overloaded' }];
    show(root, <UsagePage />);
    await says('The backend is overloaded.');
    await accessible();
    answers([], {});
    served.answers['/usage'] = [200, answer([group(null, { inferences: 0 })])];
    await press('Try again');
    await says('No usage in this period');
    expect(root.querySelector('.empty a')?.getAttribute('href')).toBe('/workspace');
    await accessible();
  });

  it('shows nothing of an older question while the newer one fails', async () => {
    show(root, <UsagePage />);
    await says('Tokens: 60.');
    served.answers['/usage'] = [422, { status: 422, detail: 'from: hours are kept for 5 days: choose `bucket=day`' }];
    change({ bucket: 'hour' });
    await says('hours are kept for 5 days');
    expect(root.textContent).not.toContain('Tokens: 60.');
    await accessible();
  });

  it('exports what is shown: each span of each group and of the others, with percentiles', async () => {
    const before = served.asked.length;
    show(root, <UsagePage />);
    await says('Tokens: 60.');
    await press('Export CSV');
    const [file] = await files();
    expect([file?.name, file?.type]).toEqual(['usage.csv', 'text/csv;charset=utf-8']);
    expect(file?.words.split('\r\n')).toEqual([
      'begin,group_id,group_name,inferences,counted,uncounted,prompt_tokens,completion_tokens,audio_ms,images,first_token_p50_ms,first_token_p95_ms,token_rate_p50,token_rate_p95',
      `${DAYS[0]},mdl_a,tiny,0,0,0,0,0,0,0,,,,`,
      `${DAYS[1]},mdl_a,tiny,2,2,0,10,20,0,0,100,200,,`,
      `${DAYS[0]},mdl_b,Removed model mdl_b,0,0,0,0,0,0,0,,,,`,
      `${DAYS[1]},mdl_b,Removed model mdl_b,2,2,0,0,20,5000,0,,,,`,
      `${DAYS[0]},,Others,0,0,0,0,0,0,0,,,,`,
      `${DAYS[1]},,Others,1,1,0,0,10,0,0,,,,`,
      '',
    ]);
    change({ by: 'none' });
    await vi.waitFor(() => expect(served.asked).toHaveLength(before + 3));
    await vi.waitFor(() => expect(root.querySelector('.usage-totals tbody tr')?.textContent).toMatch(/^All/));
    await press('Export CSV');
    expect((await files())[1]?.words.split('\r\n').slice(1)).toEqual([`${DAYS[0]},,All,0,0,0,0,0,0,0,,,,`, `${DAYS[1]},,All,5,4,1,20,40,5000,0,120,900,30,55`, '']);
  });

  it('has no formula in its file, and nothing of others who have used nothing', async () => {
    go('/usage?by=tag');
    answers(HOSTILE.map((tag) => group(tag, { completion_tokens: 1 }, null)));
    show(root, <UsagePage />);
    await says('<img src=x onerror=alert(1)>');
    await press('Export CSV');
    const [file] = await files();
    expect(file?.words).toContain('"\'=1+1"');
    expect(file?.words).not.toMatch(/(^|,)"?=1\+1/m);
    expect(file?.words).not.toContain('Others');
  });

  it('shows hostile names as text', async () => {
    answers(HOSTILE.map((name, index) => group(`mdl_${index}`, { completion_tokens: 1 }, name)));
    show(root, <UsagePage />);
    await says('<img src=x onerror=alert(1)>');
    root.querySelector('details')?.setAttribute('open', '');
    await vi.waitFor(() => expect(root.querySelector('.charted-table')).not.toBeNull());
    expect(root.querySelector('img')).toBeNull();
    expect(root.textContent).not.toMatch(/[\u0000\u202e\u200b]/);
    expect(root.textContent).not.toContain('A'.repeat(501));
    await accessible();
  });

  it('shows hostile tags as text', async () => {
    go('/usage?by=tag');
    answers(HOSTILE.map((tag) => group(tag, { completion_tokens: 1 }, null)));
    show(root, <UsagePage />);
    await says('<img src=x onerror=alert(1)>');
    expect(root.querySelector('img')).toBeNull();
    expect(root.textContent).not.toMatch(/[\u0000\u202e\u200b]/);
    await accessible();
  });
});
