// The actions of the palette: what a role may do, and the dialogs that they open.

import { describe, expect, it, vi } from 'vitest';

import { Palette } from '../src/app/palette';
import { go } from '../src/app/router';
import { me } from '../src/data/store';
import { ModelsPage } from '../src/pages/catalogue/page';
import { DevicesPage } from '../src/pages/devices/page';
import { KeysPage } from '../src/pages/keys/page';
import { MembersPage } from '../src/pages/members/page';
import { TokensPage } from '../src/pages/tokens/page';
import { accessible, OWNER, place } from './placed';

const here = place();
const actions = (): string[] =>
  [...document.querySelectorAll('[role=option]')].filter((one) => one.textContent?.endsWith('Action')).map((one) => one.firstChild?.textContent ?? '');

describe('an action', () => {
  it('is offered to who may do it', async () => {
    here.show(<Palette />);
    await vi.waitFor(() => expect(actions()).toEqual(
      ['Add a model…', 'Create a key', 'Invite a member', 'Create a token', 'Retire a device with its code', 'Log out'],
    ));
    await accessible();
    me.value = { ...OWNER, role: 'viewer' };
    await vi.waitFor(() => expect(actions()).toEqual(['Create a token', 'Retire a device with its code', 'Log out']));
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

  it('opens nothing for a role that may not do it', async () => {
    me.value = { ...OWNER, role: 'viewer' };
    go('/models?open=add');
    here.show(<ModelsPage />);
    await vi.waitFor(() => expect(location.search).toBe(''));
    expect(document.querySelector('dialog')).toBeNull();
  });
});
