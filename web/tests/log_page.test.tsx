// The tab with the log of a device: pause and resume, the file, and the severity.

import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { StreamOptions } from '../src/data/stream';
import { deployments, deploymentsLoading, devices, models } from '../src/data/store';
import type { DeviceLog, Severity } from '../src/data/types';
import { DevicePage } from '../src/pages/device/page';
import { go } from '../src/ui/router';
import { held } from './backend';
import { device } from './fixtures';
import { accessible, control, controls, place, press, settled, type } from './placed';
import { savedFiles } from './saved_files';

const here = place();
const saved = savedFiles();
const streams: StreamOptions[] = [];

vi.mock('../src/data/stream', () => ({
  follow: (options: StreamOptions) => {
    streams.push(options);
    return Promise.resolve();
  },
}));

const LOGS = '/devices/dev_a/logs';
const record = (number: number, more: Partial<DeviceLog> = {}): DeviceLog => ({
  number, received_at: `2026-11-20T00:00:0${number}Z`, severity: 'info', category: 'engine', message: `record ${number}`, ...more,
});
const arrives = (item: DeviceLog): void =>
  streams.at(-1)?.heard({ type: 'change', id: String(item.number), change: { kind: 'log', change: 'changed', item } });
const rows = (): string[] => [...here.root.querySelectorAll('.log-row .message')].map(({ textContent }) => textContent ?? '');
const severities = (): (string | null)[] => here.served.to(LOGS).map(({ query }) => query.get('severity'));

async function open(more = ''): Promise<void> {
  devices.loaded([device('a')]);
  models.loaded([]);
  deployments.loaded([]);
  deploymentsLoading.value = { state: 'ready', error: null };
  go(`/devices/dev_a?tab=logs${more}`);
  here.show(<DevicePage />);
  await settled('record 2');
  await vi.waitFor(() => expect(streams.at(-1)?.query).toContain('kinds=log&device_id=dev_a'));
}

beforeEach(() => {
  streams.length = 0;
  here.served.answers[LOGS] = [200, { items: [record(2), record(1)] }];
});

it('counts nothing before the first records are there', async () => {
  const records = held<[number, unknown]>();
  here.served.answers[LOGS] = () => records.promise;
  const opened = open();
  await settled('Download');
  expect(here.root.textContent).not.toContain('0 records');
  records.keep([200, { items: [record(2), record(1)] }]);
  await opened;
  expect(here.root.textContent).toContain('2 records');
});

describe('a paused log', () => {
  it('holds new records, counts them, and shows them when it is resumed', async () => {
    await open();
    arrives(record(3));
    await vi.waitFor(() => expect(rows()).toEqual(['record 1', 'record 2', 'record 3']));
    await press('Pause');
    expect((await control('Resume')).getAttribute('aria-pressed')).toBe('true');
    arrives(record(4));
    await control('Resume (1 new)');
    arrives(record(5));
    await control('Resume (2 new)');
    expect(rows()).toEqual(['record 1', 'record 2', 'record 3']);
    expect(here.root.textContent).toContain('3 records');
    await accessible();
    await press('Resume (2 new)');
    await vi.waitFor(() => expect(rows()).toEqual(['record 1', 'record 2', 'record 3', 'record 4', 'record 5']));
    expect((await control('Pause')).getAttribute('aria-pressed')).toBe('false');
    arrives(record(6));
    await settled('record 6');
    // The second pause counts from its own beginning.
    await press('Pause');
    arrives(record(7));
    await control('Resume (1 new)');
    expect(rows()).not.toContain('record 7');
  });

  it('holds the first records too', async () => {
    here.served.answers[LOGS] = [200, { items: [] }];
    devices.loaded([device('a')]);
    go('/devices/dev_a?tab=logs');
    here.show(<DevicePage />);
    await settled('No record yet');
    await press('Pause');
    await control('Resume');
    arrives(record(1));
    await control('Resume (1 new)');
    expect(rows()).toEqual([]);
    await press('Resume (1 new)');
    await vi.waitFor(() => expect(rows()).toEqual(['record 1']));
  });
});

describe('the file of a log', () => {
  it('has the records that are shown, oldest first, each on a line of its own', async () => {
    const failure = record(2, { severity: 'error', category: 'security', message: 'record 2: <b>no</b>, "never"' });
    here.served.answers[LOGS] = [200, { items: [failure, record(1)] }];
    await open();
    await press('Download');
    expect(await saved()).toEqual([{
      name: 'dev_a.log',
      type: 'text/plain;charset=utf-8',
      words: '2026-11-20T00:00:01Z INFO engine: record 1\n2026-11-20T00:00:02Z ERROR security: record 2: <b>no</b>, "never"\n',
    }]);
  });

  it('lacks what the search and the category leave out, and what a pause holds', async () => {
    here.served.answers[LOGS] = [200, { items: [record(3, { category: 'security' }), record(2), record(1)] }];
    await open();
    await type('[aria-label="Search the log"]', 'RECORD 2');
    await settled('1 record');
    await press('Download');
    await type('[aria-label="Search the log"]', '');
    await type('[aria-label=Category]', 'security');
    await vi.waitFor(() => expect(rows()).toEqual(['record 3']));
    await press('Download');
    await type('[aria-label=Category]', '');
    await press('Pause');
    arrives(record(4));
    await control('Resume (1 new)');
    await press('Download');
    const numbers = (await saved()).map(({ words }) => [...words.matchAll(/record (\d)/g)].map(([, number]) => Number(number)));
    expect(numbers).toEqual([[2], [3], [1, 2, 3]]);
  });

  it('is not offered while nothing is shown', async () => {
    await open();
    await type('[aria-label="Search the log"]', 'nothing fits');
    await settled('No record matches.');
    expect((await control('Download') as HTMLButtonElement).disabled).toBe(true);
  });
});

describe('the severity of a log', () => {
  const SELECT = '[aria-label="Severity at least"]';
  const RANK: readonly Severity[] = ['info', 'warning', 'error', 'critical'];

  beforeEach(() => {
    const all = [record(3, { severity: 'critical' }), record(2, { severity: 'error' }), record(1)];
    here.served.answers[LOGS] = ({ query }) => {
      const least = RANK.indexOf(query.get('severity') as Severity);
      return [200, { items: all.filter(({ severity }) => RANK.indexOf(severity) >= least) }];
    };
  });

  it('goes into the address, and the backend is asked with it', async () => {
    await open('&category=engine');
    await vi.waitFor(() => expect(rows()).toEqual(['record 1', 'record 2', 'record 3']));
    expect(severities()).toEqual(['info']);
    await type(SELECT, 'error');
    await vi.waitFor(() => expect(rows()).toEqual(['record 2', 'record 3']));
    expect(severities()).toEqual(['info', 'error']);
    // The other filters of the address stay.
    expect(location.search).toBe('?tab=logs&category=engine&severity=error');
    expect(streams[0]?.signal.aborted).toBe(true);
    await vi.waitFor(() => expect(streams).toHaveLength(2));
    arrives(record(4, { severity: 'warning' }));
    arrives(record(5, { severity: 'critical' }));
    await vi.waitFor(() => expect(rows()).toEqual(['record 2', 'record 3', 'record 5']));
    await accessible();
    await type(SELECT, 'info');
    await vi.waitFor(() => expect(severities()).toEqual(['info', 'error', 'info']));
    expect(location.search).toBe('?tab=logs&category=engine');
  });

  it('is the one of the address, and info where the address has none that is known', async () => {
    await open('&severity=error');
    expect(severities()).toEqual(['error']);
    expect(here.root.querySelector<HTMLSelectElement>(SELECT)?.value).toBe('error');
    go('/devices/dev_a?tab=logs&severity=loud');
    await settled('record 1');
    expect(severities()).toEqual(['error', 'info']);
    expect(controls()).toContain('Pause');
  });
});
