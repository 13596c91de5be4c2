// What people type, copy or look at stays as they have it, also when something is refused or comes meanwhile.

import { beforeEach, expect, it, vi } from 'vitest';

import { deployments, deploymentsLoading, devices } from '../src/data/store';
import type { StreamOptions } from '../src/data/stream';
import type { DeviceLog } from '../src/data/types';
import { DevicePage } from '../src/pages/device/page';
import { MachinePage } from '../src/pages/entry/machine';
import { Answer } from '../src/pages/workspace/answer';
import { text } from '../src/text';
import { Notices } from '../src/ui/notices';
import { go } from '../src/ui/router';
import { held } from './backend';
import { device } from './fixtures';
import { control, place, press, settled, type } from './placed';

const here = place();
const streams: StreamOptions[] = [];
vi.mock('../src/data/stream', () => ({
  follow: (options: StreamOptions) => {
    streams.push(options);
    return Promise.resolve();
  },
}));

function open(tab: string): void {
  devices.loaded([device('a')]);
  deployments.loaded([]);
  deploymentsLoading.value = { state: 'ready', error: null };
  go(`/devices/dev_a?tab=${tab}`);
  here.show(<><DevicePage /><Notices /></>);
}
const tag = (): string | undefined => here.root.querySelector<HTMLInputElement>('#device-tag')?.value;
const rest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

/** Shows an answer with a code block and presses the button that copies the code. */
async function copyCode(clipboard: object | undefined): Promise<void> {
  Object.defineProperty(navigator, 'clipboard', { configurable: true, value: clipboard });
  const turn = { id: 't', question: 'q', answer: '```sh\nrm -r build\n```', thought: '', figures: null, model: 'm', state: 'complete' } as const;
  here.show(<><Answer turn={turn} running={null} grown={() => undefined} /><Notices /></>);
  await vi.waitFor(() => expect(here.root.querySelector('.code-head button')).not.toBeNull());
  here.root.querySelector<HTMLElement>('.code-head button')?.click();
}

beforeEach(() => void (streams.length = 0));

it('keeps a refused tag in the field', async () => {
  here.served.answers['/devices/dev_a'] = [422, { status: 422, detail: 'the tag is too long' }];
  open('about');
  await type('#device-tag', 'long');
  await press('Add');
  await settled('The tag is too long.');
  await rest();
  expect(tag()).toBe('long');
});

it('keeps the next tag, typed while the first one is being added', async () => {
  const answer = held<[number, unknown]>();
  here.served.answers['/devices/dev_a'] = () => answer.promise;
  open('about');
  await type('#device-tag', 'first');
  await press('Add');
  await vi.waitFor(() => expect(here.served.to('/devices/dev_a')).toHaveLength(1));
  await type('#device-tag', 'second');
  answer.keep([200, device('a', { tags: ['first'] })]);
  await control('Remove the tag first');
  await rest();
  expect(tag()).toBe('second');
});

it('copies a line for a shell without the line break that would run it', async () => {
  const copied: string[] = [];
  await copyCode({ writeText: async (words: string) => void copied.push(words) });
  expect(copied).toEqual(['rm -r build']);
});

it('says that code cannot be copied where the browser has no clipboard', async () => {
  await copyCode(undefined);
  await settled(text.workspace.copyFailed);
});

it('keeps the records that a paused log shows', async () => {
  const record = (number: number): DeviceLog =>
    ({ number, received_at: '2026-11-20T00:00:00Z', severity: 'info', category: 'engine', message: `record ${number}` });
  here.served.answers['/devices/dev_a/logs'] = [200, { items: Array.from({ length: 5_000 }, (_, at) => record(5_000 - at)), next_cursor: 'c' }];
  open('logs');
  await settled('5,000 records');
  await press('Pause');
  await vi.waitFor(() => expect(streams).not.toHaveLength(0));
  for (let number = 5_001; number <= 5_100; number += 1) {
    streams.at(-1)?.heard({ type: 'change', id: String(number), change: { kind: 'log', change: 'changed', item: record(number) } });
  }
  await control('Resume (100 new)');
  expect(here.root.textContent).toContain('5,000 records');
});

it('says at the decision how long to wait, and offers none before', async () => {
  const code = 'WDJB-MJHT';
  here.served.answers['/auth/device/inquire'] =
    [200, { user_code: code, client_name: 'box', address: '192.0.2.7', created_at: '2026-11-20T00:00:00Z', expires_at: '2026-11-20T00:10:00Z' }];
  const hint = 'wait for the time in the Retry-After header before you try again';
  here.served.answers['/auth/device/decide'] =
    [429, { status: 429, code: 'too-many-attempts', detail: 'too many attempts; wait 40 seconds', hint }, { 'retry-after': '40' }];
  here.show(<MachinePage />);
  await settled('Approve a login');
  await type('[name=user-code]', code);
  await press('Continue');
  await press('Allow');
  await settled('40 seconds');
  expect(here.root.textContent).not.toContain('header');
  expect((await control('Allow') as HTMLButtonElement).disabled).toBe(true);
});
