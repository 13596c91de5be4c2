// An update of an agent is followed to its end, on the event stream and after a cut of it.

import { describe, expect, it, vi } from 'vitest';

import { updateDevice } from '../src/data/actions';
import { followers } from '../src/data/followers';
import { devices, heard, me, reload, stop } from '../src/data/store';
import { UpdateButton } from '../src/pages/device/update';
import { Notices } from '../src/ui/notices';
import '../src/ui/update_notice';
import { held } from './backend';
import { device } from './fixtures';
import { accessible, OWNER, place, settled, type } from './placed';

const here = place();
let number = 0;

/** Asks for an update, and returns how the stream says what its command is. */
async function ask(): Promise<{ id: string; say: (more: object) => void }> {
  const id = `cmd_${(number += 1)}`;
  const command = { command_id: id, type: 'UPDATE_AGENT', state: 'sent', device_id: 'dev_lab', created_at: '', expires_at: '' };
  here.served.answers['/devices/dev_lab/update'] = [202, command];
  here.served.answers[`/commands/${id}`] = [200, command];
  devices.loaded([device('lab')]);
  here.show(<Notices />);
  await updateDevice('dev_lab', '9.9.1');
  await vi.waitFor(() => expect(here.served.to(`/commands/${id}`)).toHaveLength(1));
  const say = (more: object): void =>
    heard({ type: 'change', id: null, change: { kind: 'command', id, change: 'changed', item: { ...command, ...more } } });
  return { id, say };
}

const result = (status: string, output: string): object => ({ state: 'processed', result: { status, output } });
const tone = (words: string): string | undefined =>
  [...document.querySelectorAll('.notice')].find((one) => one.textContent?.includes(words))?.className;

describe('the version to update to', () => {
  const field = (): HTMLInputElement => document.querySelector('dialog input') as HTMLInputElement;
  const open = async (): Promise<void> => {
    me.value = OWNER;
    here.show(<UpdateButton device={device('lab')} />);
    document.querySelector<HTMLButtonElement>('[data-action=update]')?.click();
    await vi.waitFor(() => expect(field()).not.toBeNull());
  };
  const release = { release: { channel: 'stable', version: '1.4.0' }, systems: [] };

  it('is the release of the backend', async () => {
    here.served.answers['/install'] = [200, release];
    await open();
    await vi.waitFor(() => expect(field().value).toBe('1.4.0'));
    await settled('The release of this backend is 1.4.0.');
    await accessible();
  });

  it('is left to whoever updates a device that runs the release', async () => {
    here.served.answers['/install'] = [200, { ...release, release: { channel: 'stable', version: device('lab').agent_version } }];
    await open();
    await settled(`This device is up to date (${device('lab').agent_version}).`);
    // The effects of what was drawn run a moment later.
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(field().value).toBe('');
    const button = document.querySelector('dialog [type=submit]') as HTMLButtonElement;
    expect(button.disabled).toBe(true);
    await type('dialog input', device('lab').agent_version);
    await vi.waitFor(() => expect(button.disabled).toBe(true));
    await type('dialog input', '1.2.9');
    await vi.waitFor(() => expect(button.disabled).toBe(false));
    await accessible();
  });

  it('is what somebody types, also if the release is known later', async () => {
    const answer = held<[number, unknown]>();
    here.served.answers['/install'] = () => answer.promise;
    await open();
    await type('dialog input', '1.3.9');
    answer.keep([200, release]);
    await settled('The release of this backend is 1.4.0.');
    expect(field().value).toBe('1.3.9');
  });

  it('is typed if the backend has no release, and the dialog goes with the permission', async () => {
    here.served.answers['/install'] = [503, { status: 503, detail: 'there is none' }];
    await open();
    await settled('such as 1.3.0');
    expect(field().value).toBe('');
    me.value = { ...OWNER, role: 'viewer' };
    await vi.waitFor(() => expect(document.querySelector('dialog')).toBeNull());
  });
});

describe('the update of an agent', () => {
  it('says in the device’s words that it has succeeded, once', async () => {
    const { say } = await ask();
    say({ state: 'processed' });
    expect(document.querySelector('.notice')).toBeNull();
    say(result('succeeded', 'version 9.9.1 is verified and checked, and takes over now'));
    say(result('succeeded', 'version 9.9.1 is verified and checked, and takes over now'));
    await settled('lab: Version 9.9.1 is verified and checked, and takes over now.');
    expect(document.querySelectorAll('.notice')).toHaveLength(1);
    expect(tone('takes over')).toBe('notice good');
    await accessible();
  });

  it('says why it has failed', async () => {
    const { say } = await ask();
    say(result('failed', 'no such library'));
    await settled('lab: No such library.');
    expect(tone('No such library')).toBe('notice bad');
    await accessible();
  });

  it('says that it has expired, or that a newer command took its place', async () => {
    const first = await ask();
    first.say({ state: 'expired' });
    await settled('lab: The device has not acknowledged the command in time.');
    const second = await ask();
    second.say(result('superseded', ''));
    await settled('lab: A newer command took the place of this one, and counts.');
    expect(tone('A newer command')).toBe('notice good');
  });

  it('asks after a gap in the stream', async () => {
    const { id } = await ask();
    here.served.answers[`/commands/${id}`] = [200, { command_id: id, device_id: 'dev_lab', type: 'UPDATE_AGENT', ...result('failed', 'the disk is full') }];
    void reload();
    await settled('lab: The disk is full.');
  });

  it('is forgotten with the end of the login', async () => {
    const before = followers.size;
    const { say } = await ask();
    expect(followers.size).toBe(before + 1);
    stop();
    expect(followers.size).toBe(before);
    say(result('failed', 'nobody reads this'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(document.body.textContent).not.toContain('Nobody reads this');
  });
});
