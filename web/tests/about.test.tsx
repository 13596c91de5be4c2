// The name and the tags of a device: what a change sends, and what the page shows afterwards.

import { describe, expect, it, vi } from 'vitest';

import { deployments, deploymentsLoading, devices } from '../src/data/store';
import type { Device } from '../src/data/types';
import { DevicePage } from '../src/pages/device/page';
import { Notices } from '../src/ui/notices';
import { go } from '../src/ui/router';
import { held } from './backend';
import { device, HOSTILE } from './fixtures';
import { accessible, control, place, press, settled, type } from './placed';

const here = place();

function open(more: Partial<Device> = {}): void {
  devices.loaded([device('a', more)]);
  deployments.loaded([]);
  deploymentsLoading.value = { state: 'ready', error: null };
  go('/devices/dev_a?tab=about');
  here.show(<><DevicePage /><Notices /></>);
}

const changes = (): [string, unknown][] => here.served.to('/devices/dev_a').map(({ method, body }) => [method, body]);
const field = (id: string): string | undefined => here.root.querySelector<HTMLInputElement>(`#${id}`)?.value;
const heading = (): string => here.root.querySelector('h1')?.textContent ?? '';
const headTags = (): (string | null)[] => [...here.root.querySelectorAll('.device-head .tag')].map(({ textContent }) => textContent);
const said = (part: string): HTMLElement | null => here.root.querySelector(`${part} > [role=status]`);
const tags = (): (string | null)[] => [...here.root.querySelectorAll('.tag-editor .chip')].map(({ textContent }) => textContent);

describe('a new name', () => {
  it('is sent once, and shown at once as pending', async () => {
    const answer = held<[number, unknown]>();
    here.served.answers['/devices/dev_a'] = () => answer.promise;
    open();
    await vi.waitFor(() => expect(field('device-name')).toBe('a'));
    const status = said('.title-line');
    expect(status?.textContent).toBe('');
    await type('#device-name', 'kitchen');
    await press('Rename');
    await vi.waitFor(async () => expect((await control('Rename') as HTMLButtonElement).disabled).toBe(true));
    expect(heading()).toBe('kitchen');
    expect(here.root.querySelector('.device-head')?.textContent).toContain('Renaming…');
    expect([said('.title-line'), status?.textContent]).toEqual([status, 'Renaming…']);
    expect(document.body.textContent).not.toContain('was renamed');
    await accessible();
    answer.keep([200, device('a', { name: 'kitchen' })]);
    await settled('The device was renamed.');
    expect(changes()).toEqual([['PATCH', { name: 'kitchen' }]]);
    await vi.waitFor(() => expect(here.root.textContent).not.toContain('Renaming…'));
    expect(heading()).toBe('kitchen');
    expect(field('device-name')).toBe('kitchen');
    expect((await control('Rename') as HTMLButtonElement).disabled).toBe(false);
    expect(document.body.textContent).not.toContain('Somebody else');
    await accessible();
  });

  it('is shown as the backend stores it', async () => {
    here.served.answers['/devices/dev_a'] = [200, device('a', { name: 'kitchen' })];
    open();
    await type('#device-name', ' kitchen ');
    await press('Rename');
    await settled('The device was renamed.');
    await vi.waitFor(() => expect(field('device-name')).toBe('kitchen'));
  });

  it('that is refused stays in the field, and the old one stays in the heading', async () => {
    here.served.answers['/devices/dev_a'] = [422, { status: 422, detail: 'the name is too long' }];
    open();
    await type('#device-name', 'x'.repeat(300));
    await press('Rename');
    await settled('The name is too long.');
    expect(field('device-name')).toBe('x'.repeat(300));
    expect(heading()).toBe('a');
    expect(here.root.textContent).not.toContain('Renaming…');
    expect(document.body.textContent).not.toContain('was renamed');
  });
});

describe('the tags', () => {
  it('take one more, and the field is free for the next', async () => {
    here.served.answers['/devices/dev_a'] = [200, device('a', { tags: ['lab', 'gpu 1'] })];
    open({ tags: ['lab'] });
    await type('#device-tag', '  gpu 1 ');
    await press('Add');
    await vi.waitFor(() => expect(tags()).toEqual(['lab', 'gpu 1']));
    expect(changes()).toEqual([['PATCH', { add_tags: ['gpu 1'] }]]);
    await vi.waitFor(() => expect(field('device-tag')).toBe(''));
    await accessible();
  });

  it('show at once what is being added and removed, and take back what is refused', async () => {
    const answers = [held<[number, unknown]>(), held<[number, unknown]>()];
    let asked = 0;
    here.served.answers['/devices/dev_a'] = () => answers[asked++]?.promise ?? [500, {}];
    open({ tags: ['lab', 'old'] });
    await type('#device-tag', 'gpu');
    await press('Add');
    await vi.waitFor(() => expect(tags()).toEqual(['lab', 'old', 'gpuAdding…']));
    here.root.querySelector<HTMLElement>('[aria-label="Remove the tag old"]')?.click();
    await vi.waitFor(() => expect(tags()).toEqual(['lab', 'oldRemoving…', 'gpuAdding…']));
    expect(document.activeElement).toBe(here.root.querySelector('.tag-editor [role=group]'));
    await accessible();
    answers[1]?.keep([409, { status: 409, detail: 'the device is leaving' }]);
    await settled('The device is leaving.');
    await vi.waitFor(() => expect(tags()).toEqual(['lab', 'old', 'gpuAdding…']));
    // What an event says meanwhile does not end what is pending.
    devices.changed(device('a', { tags: ['lab', 'old', 'new'] }));
    await vi.waitFor(() => expect(tags()).toEqual(['lab', 'old', 'new', 'gpuAdding…']));
    answers[0]?.keep([200, device('a', { tags: ['gpu', 'lab', 'new', 'old'] })]);
    await vi.waitFor(() => expect(tags()).toEqual(['gpu', 'lab', 'new', 'old']));
  });

  it('are said while they change, and change at the head of the page at once', async () => {
    const answers = [held<[number, unknown]>(), held<[number, unknown]>()];
    let asked = 0;
    here.served.answers['/devices/dev_a'] = () => answers[asked++]?.promise ?? [500, {}];
    open({ tags: ['lab', 'old'] });
    await vi.waitFor(() => expect(headTags()).toEqual(['lab', 'old']));
    const status = said('.tag-editor');
    expect(status?.textContent).toBe('');
    await type('#device-tag', 'gpu');
    await press('Add');
    await vi.waitFor(() => expect(status?.textContent).toBe('Adding the tag gpu…'));
    expect(headTags()).toEqual(['lab', 'old', 'gpu']);
    await press('Remove the tag old');
    await vi.waitFor(() => expect(status?.textContent).toBe('Removing the tag old… Adding the tag gpu…'));
    expect(headTags()).toEqual(['lab', 'gpu']);
    expect(said('.tag-editor')).toBe(status);
    await accessible();
    answers[0]?.keep([200, device('a', { tags: ['lab', 'old', 'gpu'] })]);
    answers[1]?.keep([409, { status: 409, detail: 'the device is leaving' }]);
    await vi.waitFor(() => expect(status?.textContent).toBe(''));
    expect(headTags()).toEqual(['lab', 'old', 'gpu']);
  });

  it('send nothing for spaces', async () => {
    open({ tags: ['lab'] });
    await type('#device-tag', '   ');
    await press('Add');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(changes()).toEqual([]);
  });

  it('lose the one that is removed, and no other', async () => {
    here.served.answers['/devices/dev_a'] = [200, device('a', { tags: ['lab'] })];
    open({ tags: ['lab', 'gpu 1'] });
    await press('Remove the tag gpu 1');
    await vi.waitFor(() => expect(tags()).toEqual(['lab']));
    expect(changes()).toEqual([['PATCH', { remove_tags: ['gpu 1'] }]]);
    here.served.answers['/devices/dev_a'] = [200, device('a', { tags: [] })];
    await press('Remove the tag lab');
    await settled('No tags.');
    expect(changes().at(-1)).toEqual(['PATCH', { remove_tags: ['lab'] }]);
    await accessible();
  });

  it('stay as they are when a removal is refused', async () => {
    here.served.answers['/devices/dev_a'] = [409, { status: 409, detail: 'the device is being transferred' }];
    open({ tags: ['lab'] });
    await press('Remove the tag lab');
    await settled('The device is being transferred.');
    expect(tags()).toEqual(['lab']);
  });

  it('are removed by their exact text, however they are shown', async () => {
    here.served.answers['/devices/dev_a'] = [200, device('a')];
    for (const tag of HOSTILE) {
      open({ tags: [tag] });
      await vi.waitFor(() => expect(tags()).toHaveLength(1));
      here.root.querySelector<HTMLElement>('.tag-editor .chip button')?.click();
      await vi.waitFor(() => expect(tags()).toEqual([]));
    }
    expect(changes()).toEqual(HOSTILE.map((tag) => ['PATCH', { remove_tags: [tag] }]));
  });
});
