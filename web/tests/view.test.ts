import { describe, expect, it } from 'vitest';

import {
  compareVersions, formatSelection, formatTerm, matches, MOST_TERMS, parseSelection, parseTerm, type Term, type UpdateEnd, whyUnread,
} from '../src/data/selection';
import type { Device } from '../src/data/types';
import { csv } from '../src/pages/devices/csv';
import { visible } from '../src/text/visible';
import { cell } from '../src/ui/csv';
import { arranged, fitting, groupedByDevice, ordered, orderOf, orderWords, viewOf } from '../src/pages/devices/view';
import { text } from '../src/text';
import { ago, bytes, percent } from '../src/text/format';
import { span } from '../src/text/span';
import { ahead } from '../src/text/until';
import CASES from './csv_cases.json';
import { deployment, device, HOSTILE } from './fixtures';
import { spaced } from './spaced';

describe('a selection', () => {
  it.each(['tag=lab', 'tag!=a b', 'version<1.3.0', 'version>=1.3.0-rc.1', 'state=online', 'state!=updating', 'update=rolled_back', 'update!=committed', 'disk>=90', 'disk<100'])(
    'reads and writes %s',
    (words) => {
      const term = parseTerm(words);
      expect(typeof term === 'string' ? term : formatTerm(term)).toBe(words);
    },
  );

  it.each(['', 'name=x', 'state=asleep', 'state<online', 'version=new', 'tag=', 'tag=a,b', 'version<1.3', 'update=failed', 'update>committed', 'disk>=101', 'disk=full', 'disk<-1'])(
    'refuses %s with a reason',
    (words) => {
      expect(typeof parseTerm(words)).toBe('string');
    },
  );

  it('keeps what is no term as it was written, with the reason, and lets no device fit it', () => {
    const terms = parseSelection('tag=lab, nonsense,,sate=offline');
    expect(formatSelection(terms)).toBe('tag=lab,nonsense,sate=offline');
    expect(terms.map((term) => whyUnread(term) === null)).toEqual([true, false, false]);
    expect(whyUnread(terms[2] as Term)).toMatch(/^“sate=offline” is not a filter\. A filter is a term such as /);
    expect(matches(terms, device('a', { tags: ['lab'] }))).toBe(false);
  });

  it('keeps the terms after the most that a selection may have, as one that no device fits', () => {
    const words = Array.from({ length: MOST_TERMS + 2 }, (_, place) => `tag!=t${place}`).join(',');
    const terms = parseSelection(words);
    expect([terms.length, formatSelection(terms)]).toEqual([MOST_TERMS + 1, words]);
    expect(whyUnread(terms.at(-1) as Term)).toBe('A selection has at most 20 terms.');
    expect(matches(terms, device('a'))).toBe(false);
    expect(whyUnread(parseSelection(`${words.split(',').slice(0, MOST_TERMS).join(',')},tag=x`).at(-1) as Term)).toBe('A selection has at most 20 terms.');
  });

  it('matches if every term does', () => {
    const lab = device('a', { tags: ['lab'], agent_version: '1.2.9' });
    const fits = (words: string): boolean => matches(parseSelection(words), lab);
    expect(fits('tag=lab,version<1.3.0,state=online')).toBe(true);
    expect(fits('tag!=lab')).toBe(false);
    expect(fits('version>=1.3.0')).toBe(false);
    expect(matches(parseSelection('state=updating'), { ...lab, status: 'updating' })).toBe(true);
    expect(matches(parseSelection('state=offline'), { ...lab, online: false, status: 'updating' })).toBe(true);
  });

  it('matches the end of the last update, and the used share of the disk', () => {
    const used = (share: number): Partial<Device> => {
      const disk = { used_bytes: 0, free_bytes: 1_000 - share * 10, total_bytes: 1_000 };
      return { system: { disk } as NonNullable<Device['system']> };
    };
    const ended = (outcome: UpdateEnd): Partial<Device> => ({ last_update: { from: '1.2.0', to: '1.3.0', outcome } });
    const fits = (words: string, more: Partial<Device>): boolean => matches(parseSelection(words), device('a', more));
    expect(fits('update=rolled_back', ended('rolled_back'))).toBe(true);
    expect(fits('update=rolled_back', ended('committed'))).toBe(false);
    expect(fits('update!=committed', {})).toBe(true);
    expect(fits('disk>=90', used(90))).toBe(true);
    expect(fits('disk>=90', used(89.9))).toBe(false);
    expect(fits('disk=89', used(89.9))).toBe(true);
    expect(['disk<90', 'disk>=0', 'disk!=1'].some((words) => fits(words, {}))).toBe(false);
  });

  it('orders versions by precedence', () => {
    const sorted = ['1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta.2', '1.0.0-beta.11', '1.0.0-rc.1', '1.0.0', '1.2.0', '1.10.0'];
    expect([...sorted].reverse().sort(compareVersions)).toEqual(sorted);
    expect(compareVersions('1.0.0+a', '1.0.0+b')).toBe(0);
    expect(compareVersions('garbage', '0.0.1')).toBeLessThan(0);
  });
});

describe('the order', () => {
  const none = groupedByDevice([]);
  const sorted = (sort: string, all: ReturnType<typeof device>[]): string[] => ordered(all, orderOf(sort), none).map(({ name }) => name);

  it('has equal versions in the order of their names, and texts that are no version first', () => {
    const all = [['d', '1.10.0'], ['c', '1.2.0'], ['b', '1.2.0+build'], ['a', 'garbage']].map(([name = '', version = '']) => device(name, { agent_version: version }));
    expect(sorted('version', all)).toEqual(['a', 'b', 'c', 'd']);
    expect(sorted('-version', all)).toEqual(['d', 'c', 'b', 'a']);
  });

  it('has devices of one name in the order of their ids, also if it descends', () => {
    const all = ['3', '1', '2'].map((id) => device(id, { name: 'same' }));
    for (const sort of ['name', '-name']) expect(ordered(all, orderOf(sort), none).map(({ device_id }) => device_id)).toEqual(['dev_1', 'dev_2', 'dev_3']);
  });

  it('follows a device that got another name', () => {
    const all = [device('a'), device('b')];
    expect(sorted('name', all)).toEqual(['a', 'b']);
    expect(sorted('name', [{ ...(all[0] as ReturnType<typeof device>), name: 'z' }, ...all.slice(1)])).toEqual(['b', 'z']);
  });

  it('stays when it is filtered, and a search finds nothing across two of its parts', () => {
    const all = [device('x1', { tags: ['lab'] }), device('x2', { tags: ['kiosk', 'lab'] })];
    expect(fitting(all, { search: ' LAB ', terms: [] })).toEqual(all);
    expect(fitting(all, { search: 'kiosklab', terms: [] })).toEqual([]);
    expect(fitting(all, { search: 'host-x1', terms: [] })).toEqual([all[0]]);
  });
});

describe('the view', () => {
  const view = (words: string) => viewOf(new URLSearchParams(words));
  const none = groupedByDevice([]);

  it('comes from the address, and nonsense has no effect', () => {
    expect(view('sort=-seen&q=x&select=state=online').order).toEqual({ column: 'seen', descending: true });
    expect(view('sort=nonsense&select=%%').order).toEqual({ column: 'name', descending: false });
    expect(orderWords({ column: 'name', descending: false })).toBeNull();
    expect(orderWords({ column: 'cpu', descending: true })).toBe('-cpu');
  });

  it('searches name, id, host and tags', () => {
    const all = [device('alpha', { tags: ['Paris'] }), device('beta')];
    const found = (words: string): string[] =>
      arranged(all, view(`q=${words}`), none).map(({ name }) => name);
    expect([found('ALPH'), found('paris'), found('host-b'), found('dev_'), found('zeta')]).toEqual([
      ['alpha'], ['alpha'], ['beta'], ['alpha', 'beta'], [],
    ]);
  });

  it('orders names as people do, and both ways', () => {
    const all = ['lab-10', 'Lab-2', 'lab-1'].map((name) => device(name));
    const names = (words: string): string[] => arranged(all, view(words), none).map(({ name }) => name);
    expect(names('')).toEqual(['lab-1', 'Lab-2', 'lab-10']);
    expect(names('sort=-name')).toEqual(['lab-10', 'Lab-2', 'lab-1']);
  });

  it('has stale models first if they are sorted for', () => {
    const grouped = groupedByDevice([
      deployment('1', 'dev_b'), deployment('2', 'dev_b'), deployment('3', 'dev_c', { stale: true }),
    ]);
    const all = [device('a'), device('b'), device('c')];
    expect(arranged(all, view('sort=-models'), grouped).map(({ name }) => name)).toEqual(['c', 'b', 'a']);
  });
});

describe('CSV', () => {
  // The backend's exports follow the same rule and read the same cases.
  it.each(CASES)('quotes where needed and makes no formula of %j', (words, expected) => {
    expect(cell(words)).toBe(expected);
  });

  it('leaves numbers as they are', () => {
    expect([cell(null), cell(-3)]).toEqual(['', '-3']);
  });

  it('has a line for each device', () => {
    const text = csv([device('a', { tags: ['x', 'y'] })], groupedByDevice([deployment('1', 'dev_a')]));
    const [head, line, end] = text.split('\r\n');
    expect(head?.split(',')).toHaveLength(15);
    expect(line).toBe('dev_a,a,online,1.3.0,linux,x86_64,host-a,model-1,,,,,,x y,2026-11-20T00:00:00Z');
    expect(end).toBe('');
  });
});

describe('texts', () => {
  it('show what hides', () => {
    for (const name of HOSTILE) expect(visible(name)).not.toMatch(/[\u0000-\u001f\u200b-\u200f\u202a-\u202e]/);
    expect(visible('שלום 👍 Ünïcode')).toBe('שלום 👍 Ünïcode');
  });

  it('have sizes with units', () => {
    expect([0, 999, 1_000, 999_500, 1_400_000_000, 999_999_999].map(bytes).map(spaced)).toEqual([
      '0 B', '999 B', '1.0 kB', '1.0 MB', '1.4 GB', '1.0 GB',
    ]);
  });

  it('break no line between a number and its unit', () => {
    const [now, then] = [Date.parse('2026-11-20T12:00:00Z'), '2026-11-20T11:55:00Z'];
    const written = [
      bytes(1_400_000_000), percent(12.4), span(7_200_000), ago(then, now), ahead('2026-11-22T12:00:00Z', now),
      text.performance.celsius(54), text.usage.milliseconds(96), text.usage.milliseconds(12_000), text.workspace.took(3), text.dropped.most(33),
    ];
    expect(written).toEqual([
      '1.4\u00a0GB', '12\u00a0%', '2\u00a0hr', '5\u00a0min. ago', 'in 2\u00a0days',
      '54\u00a0°C', '96\u00a0ms', '12.0\u00a0s', '3.0\u00a0s in all', 'up to 33\u00a0MB',
    ]);
  });
});
