// The actions of the palette: what a role may do, and the dialogs that they open.

import { describe, expect, it, vi } from 'vitest';

import { Palette } from '../src/app/palette';
import { devices, me, models } from '../src/data/store';
import { ModelsPage } from '../src/pages/catalogue/page';
import { DevicesPage } from '../src/pages/devices/page';
import { KeysPage } from '../src/pages/keys/page';
import { MembersPage } from '../src/pages/members/page';
import { SettingsPage } from '../src/pages/settings/page';
import { TokensPage } from '../src/pages/tokens/page';
import { go } from '../src/ui/router';
import { device, model } from './fixtures';
import { accessible, OWNER, place } from './placed';

const here = place();
const actions = (): string[] =>
  [...document.querySelectorAll('[role=option]')].filter((one) => one.textContent?.endsWith('Action')).map((one) => one.firstChild?.textContent ?? '');

describe('an action', () => {
  it('is offered to who may do it', async () => {
    here.show(<Palette />);
    await vi.waitFor(() => expect(actions()).toEqual(
      ['Show stale deployments', 'Add a model…', 'Create a key', 'Invite a member', 'Create a token', 'Retire a device with its code…', 'Change your password', 'Log out'],
    ));
    await accessible();
    me.value = { ...OWNER, role: 'viewer' };
    await vi.waitFor(() => expect(actions()).toEqual(['Show stale deployments', 'Create a token', 'Retire a device with its code…', 'Change your password', 'Log out']));
  });

  it.each([
    ['/models?open=add', ModelsPage, 'Add a model'],
    ['/keys?open=create', KeysPage, 'Create a key'],
    ['/members?open=invite', MembersPage, 'Invite a member'],
    ['/tokens?open=create', TokensPage, 'Create a token'],
    ['/devices?open=retire', DevicesPage, 'Retire a device with its code'],
  ])('goes to %s, whose dialog is open once', async (address, Page, title) => {
    for (const path of ['/keys', '/members', '/tokens']) here.served.answers[path] = [200, { items: [] }];
    go(address);
    here.show(<Page />);
    await vi.waitFor(() => expect(document.querySelector('dialog h2')?.textContent).toBe(title));
    expect(location.search).toBe('');
  });

  it('deploys each model that is ready, found by its name or by the word', async () => {
    models.loaded([model('1', { name: 'llama' }), model('2', { name: 'whisper', ready: false }), model('3', { name: 'gemma' })]);
    here.show(<Palette />);
    const field = document.querySelector<HTMLInputElement>('[role=combobox]') as HTMLInputElement;
    const found = async (words: string, wanted: string[]): Promise<void> => {
      field.value = words;
      field.dispatchEvent(new Event('input', { bubbles: true }));
      await vi.waitFor(() => expect(actions()).toEqual(wanted));
    };
    await found('deploy', ['Deploy llama…', 'Deploy gemma…', 'Show stale deployments']);
    await found('llam', ['Deploy llama…']);
    document.querySelectorAll<HTMLElement>('[role=option]')[1]?.click();
    expect(location.pathname + location.search).toBe('/models/mdl_1?open=deploy');
    me.value = { ...OWNER, role: 'viewer' };
    await found('deploy', ['Show stale deployments']);
  });

  it('is one of what fits best, and no kind keeps another one out', async () => {
    devices.loaded(Array.from({ length: 40 }, (_, index) => device(String(index), { name: `north-${index}` })));
    models.loaded([model('1', { name: 'north wind' }), model('2', { name: 'the north', ready: false })]);
    here.show(<Palette />);
    const field = document.querySelector<HTMLInputElement>('[role=combobox]') as HTMLInputElement;
    const names = (): string[] => [...document.querySelectorAll('[role=option]')].map((one) => one.firstChild?.textContent ?? '');
    const search = (words: string): void => {
      field.value = words;
      field.dispatchEvent(new Event('input', { bubbles: true }));
    };
    search('north');
    await vi.waitFor(() => expect(names()).toEqual(expect.arrayContaining(['north-0', 'north wind', 'the north', 'Deploy north wind…'])));
    expect(names()).toHaveLength(12);
    expect(document.body.textContent).toContain('31 more: type more of the name.');
    await accessible();
    search('NORTH-3');
    await vi.waitFor(() => expect(names()).toEqual(['north-3', ...Array.from({ length: 10 }, (_, index) => `north-3${index}`)]));
    search('dev_39');
    await vi.waitFor(() => expect(names()).toEqual(['north-39']));
  });

  it.each([
    // The whole name, its beginning, the beginning of a word in it, any part.
    ['key', ['key', 'Keys', 'keyboard', 'the key', 'Create a key', 'monkey']],
    ['mem', ['Members', 'mem-lab', 'Invite a member']],
    // Of what fits equally well, actions are last.
    ['create', ['create-lab', 'create-model', 'Create a key', 'Create a token', 'Deploy create-model…']],
    ['board', ['board-1', 'the big-board', 'keyboard']],
    // A later word counts, although another part comes first.
    ['oar', ['loar oar', 'board-1', 'the big-board', 'keyboard']],
  ])('comes where it belongs among what fits %s', async (words, wanted) => {
    devices.loaded(['monkey', 'mem-lab', 'the key', 'key', 'create-lab', 'board-1', 'the big-board'].map((name) => device(name, { name })));
    models.loaded(['keyboard', 'create-model', 'loar oar'].map((name) => model(name, { name, ready: name === 'create-model' })));
    here.show(<Palette />);
    const field = document.querySelector<HTMLInputElement>('[role=combobox]') as HTMLInputElement;
    field.value = words;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await vi.waitFor(() => expect([...document.querySelectorAll('[role=option]')].map((one) => one.firstChild?.textContent ?? '')).toEqual(wanted));
  });

  it('leads to the field of the present password', async () => {
    here.served.answers['/sessions'] = [200, { items: [] }];
    here.served.answers['/settings/allowlist'] = [200, { origins: [], defaults: [] }];
    go('/settings?open=password');
    here.show(<SettingsPage />);
    await vi.waitFor(() => expect(document.activeElement?.id).toBe('current-password'));
    expect(location.search).toBe('');
  });

  it('opens nothing for a role that may not do it', async () => {
    me.value = { ...OWNER, role: 'viewer' };
    go('/models?open=add');
    here.show(<ModelsPage />);
    await vi.waitFor(() => expect(location.search).toBe(''));
    expect(document.querySelector('dialog')).toBeNull();
  });
});
