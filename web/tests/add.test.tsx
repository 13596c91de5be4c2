// The page that adds a device: the key is made when its line is asked for, and the device appears by itself.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { installLine, supports } from '../src/data/install';
import { apply, deployments, devices } from '../src/data/store';
import type { Key } from '../src/data/types';
import { AddPage } from '../src/pages/add/page';
import { go } from '../src/ui/router';
import { backend, type Backend } from './backend';
import { deployment, device, HOSTILE, installer } from './fixtures';
import { accessible, blank, press, says, show, tick, type } from './page';

const SECRET = 'lrk_0123456789abcdefghij';
const INFO: Key = {
  key_id: 'key_1', kind: 'registration', name: 'Add a device', created_at: '2026-11-20T00:00:00Z',
  expires_at: new Date(Date.now() + 86_400_000).toISOString(), devices: 0, tags: [], revoked: false,
};

let root: HTMLElement;
let served: Backend;

beforeEach(() => {
  served = backend({
    '/keys': ({ method }) => (method === 'POST' ? [201, { key: SECRET, info: INFO }] : [200, { items: [] }]),
    '/install': [200, installer()],
  });
  root = blank('owner');
  go('/devices/add');
});
afterEach(() => {
  show(root, null);
});

describe('the page that adds a device', () => {
  it('makes a key only when a line is asked for, once for two clicks, and shows the device with each step', async () => {
    show(root, <AddPage />);
    await says('Create the install line');
    await accessible();
    expect(served.to('/keys').filter(({ method }) => method === 'POST')).toEqual([]);
    await type('Tags', 'lab, second floor,lab');
    const make = await press('Create the install line');
    make.click();
    await says(`LINK_REGISTRATION_KEY=${SECRET} sh`);
    const made = served.to('/keys').filter(({ method }) => method === 'POST');
    expect(made).toHaveLength(1);
    expect(made[0]?.body).toMatchObject({ kind: 'registration', tags: ['lab', 'second floor'] });
    await says('Waiting for a device');
    await accessible();

    devices.changed(device('new', { key_id: INFO.key_id, registered_at: '2026-11-20T00:01:00Z', online: false }));
    devices.changed(device('old'));
    // Another person's device comes at the same time.
    devices.changed(device('other', { key_id: 'key_other', registered_at: '2026-11-20T00:02:00Z' }));
    await vi.waitFor(() => expect(document.querySelectorAll('.arrival')).toHaveLength(1));
    expect(root.textContent).not.toContain('registered again');
    const done = (): number => document.querySelectorAll('.step.done').length;
    expect(done()).toBe(1);
    devices.patched('dev_new', { online: true });
    await vi.waitFor(() => expect(done()).toBe(2));
    deployments.changed(deployment('m', 'dev_new'));
    await vi.waitFor(() => expect(done()).toBe(3));
    devices.changed(device('back', { key_id: INFO.key_id, registered_at: '2026-01-01T00:00:00Z' }));
    await says('A device that was registered before has registered again.');
    await accessible();
  });

  it('still shows after a reload which devices came with its keys, whatever else the address has', async () => {
    show(root, <AddPage />);
    await press('Create the install line');
    await says('Waiting for a device');
    expect(new URLSearchParams(location.search).get('made')).toBe('key_1');
    expect(root.querySelector('.tabs a:not([aria-current])')?.getAttribute('href')).toContain('made=key_1');
    show(root, null);
    served.answers['/keys'] = [200, { items: [INFO] }];
    devices.changed(device('new', { key_id: 'key_1', registered_at: '2026-01-01T00:00:00Z' }));
    devices.changed(device('other', { key_id: 'key_other' }));
    devices.changed(device('none'));
    go(`/devices/add?made=${encodeURIComponent(`,,key_1,<img src=x>,${'x'.repeat(5000)}`)}`);
    show(root, <AddPage />);
    await vi.waitFor(() => expect(document.querySelectorAll('.arrival')).toHaveLength(1));
    await says('A device that was registered before has registered again.');
    expect(root.querySelector('img')).toBeNull();
    expect(document.body.innerHTML).not.toContain(SECRET);
  });

  it('takes the key out of the document once it is used, or hidden, or the page is left', async () => {
    show(root, <AddPage />);
    await press('Create the install line');
    await says(SECRET);
    apply({ kind: 'key', id: 'key_1', change: 'changed', item: { ...INFO, devices: 1 } });
    await vi.waitFor(() => expect(document.body.innerHTML).not.toContain(SECRET));
    await press('Create the install line');
    await says(SECRET);
    await press('Hide the key');
    await says('The key is hidden.');
    expect(document.body.innerHTML).not.toContain(SECRET);
    await press('Create the install line');
    await says(SECRET);
    show(root, null);
    expect(document.body.innerHTML).not.toContain(SECRET);
    expect(location.href + JSON.stringify({ ...sessionStorage, ...localStorage })).not.toContain(SECRET);
  });

  it('keeps the key out of the line if it is to be asked for or in a file', async () => {
    show(root, <AddPage />);
    await press('Create the install line');
    await says(SECRET);
    await tick('From a file');
    await says('LINK_REGISTRATION_KEY_FILE=~/link-key.txt');
    expect(new URLSearchParams(location.search).get('key')).toBe('file');
    expect(document.getElementById('install-line')?.textContent).not.toContain(SECRET);
    expect(document.getElementById('install-key')?.textContent).toBe(SECRET);
    await accessible();
    await tick('Typed when');
    await says('read -r LINK_REGISTRATION_KEY');
    expect(document.getElementById('install-line')?.textContent).not.toContain(SECRET);
  });

  it('makes a line for PowerShell if the release has a build for Windows', async () => {
    served.answers['/install'] = [200, installer(['windows'])];
    go('/devices/add?system=windows');
    show(root, <AddPage />);
    await press('Create the install line');
    await says(SECRET);
    expect(document.getElementById('install-line')?.textContent).toBe(`$env:LINK_REGISTRATION_KEY='${SECRET}'; irm http://127.0.0.1/install.ps1 | iex`);
    await accessible();
  });

  it('says for which systems there is no release, and makes no key for them', async () => {
    go('/devices/add?system=windows');
    show(root, <AddPage />);
    await says('publishes no release for Windows');
    await accessible();
    go('/devices/add?system=macos');
    await says('publishes no release for macOS');
    expect(document.getElementById('install-make')).toBeNull();
    go('/devices/add');
    await says('Create the install line');
  });

  it('says that the backend has no release yet, and what fails in the backend’s words', async () => {
    served.answers['/install'] = [200, installer(null)];
    served.answers['/keys'] = [409, { status: 409, detail: 'the account has too many keys', hint: 'revoke some' }];
    show(root, <AddPage />);
    await says('publishes no release yet');
    await press('Create the install line');
    await says('The account has too many keys. Revoke some.');
    await accessible();
  });

  it('creates nothing for who may not', async () => {
    show(root, null);
    root = blank('operator');
    show(root, <AddPage />);
    await says('Your role cannot create keys.');
    await accessible();
  });

  it('shows hostile names as text', async () => {
    show(root, <AddPage />);
    await press('Create the install line');
    await says(SECRET);
    for (const [index, name] of HOSTILE.entries()) devices.changed(device(`h${index}`, { name, key_id: INFO.key_id, registered_at: '2026-11-20T00:01:00Z' }));
    await vi.waitFor(() => expect(document.querySelectorAll('.arrival')).toHaveLength(HOSTILE.length));
    expect(root.querySelector('img')).toBeNull();
    expect(root.textContent).not.toMatch(/[\u0000\u202e\u200b]/);
  });
});

describe('an install line', () => {
  it('names the backend only if the installer does not know it', () => {
    expect(installLine(installer(), 'fleet', 'line', 'k')).toBe('curl -fsSL http://127.0.0.1/install.sh | LINK_FLEET_KEY=k sh');
    for (const how of ['line', 'file'] as const) {
      const unknowing = installLine(installer([], null), 'registration', how);
      expect(unknowing).toContain('LINK_INSTALL_URL=http://127.0.0.1/releases LINK_BACKEND_URL=http://127.0.0.1 ');
      expect(unknowing).not.toMatch(/[{}]/);
    }
    expect(installLine(installer([], 'https://link.example'), 'registration', 'file')).toContain('curl -fsSL https://link.example/install.sh | LINK_');
  });

  it('is for PowerShell on Windows, with the key where it is asked for', () => {
    expect(installLine(installer(), 'fleet', 'line', 'k', 'windows')).toBe("$env:LINK_FLEET_KEY='k'; irm http://127.0.0.1/install.ps1 | iex");
    const unknowing = installLine(installer([], null), 'registration', 'file', 'k', 'windows');
    expect(unknowing).toContain("$env:LINK_INSTALL_URL='http://127.0.0.1/releases'; $env:LINK_BACKEND_URL='http://127.0.0.1'; ");
    expect(unknowing).toContain('$env:LINK_REGISTRATION_KEY_FILE="$HOME\\link-key.txt"; irm ');
    const asking = installLine(installer(), 'registration', 'prompt', 'k', 'windows');
    expect(asking).toContain("Read-Host 'Key' -AsSecureString");
    expect(asking).not.toContain("'k'");
  });

  it('has the key as it is, whatever its letters mean elsewhere', () => {
    expect(installLine(installer(), 'fleet', 'line', '$&$1')).toContain('LINK_FLEET_KEY=$&$1 sh');
  });

  it('is offered for the systems of the release', () => {
    expect(supports(installer(), 'linux')).toBe(true);
    expect(supports(installer(), 'macos')).toBe(false);
    expect(supports(installer(['macos']), 'linux')).toBe(false);
    expect(supports(installer(null), 'windows')).toBe(true);
    expect(supports({ systems: [] }, 'linux')).toBe(false);
  });
});
