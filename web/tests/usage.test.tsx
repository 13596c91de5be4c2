// The page of usage, and the sums behind it: spans without gaps, units apart, what is uncounted apart.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { change, go } from '../src/app/router';
import { models } from '../src/data/store';
import type { Model, UsageRow } from '../src/data/types';
import { beginsOf, foremost, usageOf, valueOf } from '../src/data/usage';
import { csvOf } from '../src/pages/usage/csv';
import { UsagePage } from '../src/pages/usage/page';
import { backend, type Backend } from './backend';
import { HOSTILE } from './fixtures';
import { accessible, blank, press, says, show, type } from './page';

const NOW = Date.parse('2026-11-20T10:30:00Z');
const TODAY = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000).toISOString();

function row(model: string, more: Partial<UsageRow> = {}): UsageRow {
  return {
    device_id: 'dev_a', model_id: `mdl_${model}`, begin: '2026-11-20T00:00:00Z', bucket: 'day', inferences: 2, uncounted: 0,
    prompt_tokens: 10, completion_tokens: 20, duration_ms: 100, audio_ms: 0, images: 0, ...more,
  };
}

describe('usage', () => {
  const begins = beginsOf('week', NOW);

  it('has whole spans, oldest first', () => {
    expect(new Date(begins[0] ?? 0).toISOString()).toBe('2026-11-14T00:00:00.000Z');
    expect([begins.length, beginsOf('day', NOW).length, beginsOf('quarter', NOW).length]).toEqual([7, 24, 90]);
    expect(beginsOf('day', NOW).at(-1)).toBe(Date.parse('2026-11-20T10:00:00Z'));
  });

  it('is summed by what is asked for, with units apart', () => {
    const rows = [row('a'), row('a', { device_id: 'dev_b', uncounted: 1 }), row('b', { audio_ms: 1_600, images: 3, begin: '2026-11-14T00:00:00Z' }), row('old', { begin: '2026-11-01T00:00:00Z' })];
    const byModel = usageOf(rows, 'day', begins, 'model', false);
    expect(byModel.groups.map(({ id, total }) => [id, total.inferences, total.uncounted])).toEqual([['mdl_a', 4, 1], ['mdl_b', 2, 0]]);
    expect(byModel.groups[1]?.spans.map(({ images }) => images)).toEqual([3, 0, 0, 0, 0, 0, 0]);
    const { total } = byModel;
    expect([valueOf(total, 'tokens'), valueOf(total, 'audio'), valueOf(total, 'images'), valueOf(total, 'inferences')]).toEqual([90, 2, 3, 6]);
    expect(usageOf(rows, 'day', begins, 'device', false).groups).toHaveLength(2);
    expect(usageOf(rows, 'day', begins, 'none', false).groups.map(({ id }) => id)).toEqual(['']);
  });

  it('begins where it is whole if there were too many rows', () => {
    const cut = usageOf([row('a'), row('a', { begin: '2026-11-18T00:00:00Z' })], 'day', begins, 'model', true);
    expect([cut.begins.length, cut.total.inferences, cut.cutAt]).toEqual([2, 2, Date.parse('2026-11-19T00:00:00Z')]);
  });

  it('keeps the sum when the smallest groups become one', () => {
    const groups = usageOf(['a', 'b', 'c', 'd'].map((id, index) => row(id, { prompt_tokens: index * 100 })), 'day', begins, 'model', false).groups;
    const { shown, rest, left } = foremost(groups, 'tokens', 2);
    expect([shown.map(({ id }) => id), left]).toEqual([['mdl_d', 'mdl_c'], 2]);
    expect(rest && valueOf(rest.total, 'tokens')).toBe(140);
    expect(foremost(groups, 'images', 2)).toEqual({ shown: [], rest: null, left: 0 });
  });

  it('is a file without formulas and without empty spans', () => {
    const file = csvOf(usageOf([row('a')], 'day', begins, 'model', false), 'model', () => '=cmd');
    expect(file.trim().split('\r\n').slice(1)).toEqual([`2026-11-20T00:00:00.000Z,day,model,mdl_a,"'=cmd",2,0,10,20,0,0,100`]);
  });
});

describe('the page of usage', () => {
  let root: HTMLElement;
  let served: Backend;

  beforeEach(() => {
    served = backend({ '/usage': [200, { items: [row('a', { begin: TODAY, uncounted: 1 }), row('b', { begin: TODAY, inferences: 1, audio_ms: 5_000 })] }] });
    root = blank('viewer');
    go('/usage');
  });
  afterEach(() => {
    show(root, null);
  });

  it('has a chart with a sentence, its numbers, and totals', async () => {
    models.changed({ model_id: 'mdl_a', name: 'tiny' } as Model);
    show(root, <UsagePage />);
    expect(root.querySelector('.skeleton')).not.toBeNull();
    await says('Tokens: 60. Most by tiny (50 %).');
    await says('1 inference is uncounted');
    await says('Removed model mdl_b');
    expect(root.querySelector('[role=img]')?.getAttribute('aria-label')).toContain('Tokens: 60.');
    await accessible();
    root.querySelector('details')?.setAttribute('open', '');
    await accessible();
    await type('Show', 'audio');
    await says('Seconds of audio: 5.');
    expect(location.search).toBe('?show=audio');
    change({ show: 'images' });
    await says('Nothing of this kind in this period');
    await accessible();
  });

  it('asks for the period of the address', async () => {
    go('/usage?period=day&by=device');
    show(root, <UsagePage />);
    await says('Removed device dev_a');
    expect(served.to('/usage')[0]?.query.get('bucket')).toBe('hour');
    change({ period: 'month' });
    await vi.waitFor(() => expect(served.to('/usage').at(-1)?.query.get('bucket')).toBe('day'));
  });

  it('is empty, or fails in the backend’s words and tries again', async () => {
    served.answers['/usage'] = [503, { status: 503, detail: 'the backend is overloaded' }];
    show(root, <UsagePage />);
    await says('The backend is overloaded.');
    await accessible();
    served.answers['/usage'] = [200, { items: [] }];
    await press('Try again');
    await says('No usage in this period');
    await accessible();
  });

  it('shows hostile names as text', async () => {
    served.answers['/usage'] = [200, { items: HOSTILE.map((_, index) => row(String(index), { begin: TODAY })) }];
    for (const [index, name] of HOSTILE.entries()) models.changed({ model_id: `mdl_${index}`, name } as Model);
    show(root, <UsagePage />);
    await says('<img src=x onerror=alert(1)>');
    expect(root.querySelector('img')).toBeNull();
    await accessible();
  });
});
