// Every dialog of the pages, and the keys that open it. `tests/dialogs.test.ts` holds the list to the sources.

import type { Page } from 'playwright-core';

import { MODEL, modelField } from './causes.ts';
import type { World, WorldName } from './world.ts';

export interface Opened {
  name: string;
  /** The source that has the dialog. */
  of: string;
  path: string | ((world: World) => string);
  world?: WorldName;
  /** What is done first, as selecting rows. */
  before?: (page: Page) => Promise<void>;
  /** The names of the buttons that lead to the dialog; the last opens it. */
  button: string | RegExp;
  /** The menu that has the button, if one has. It has the focus afterwards. */
  menu?: string;
  /** Whether it is the last button of this name. */
  last?: boolean;
  narrow?: boolean;
}

const device = (world: World): string => `/devices/${world.devices[2]?.device_id}`;
const model = (at: number) => (world: World): string => `/models/${world.models[at]?.model_id}`;
const selectAll = async (page: Page): Promise<void> => {
  await page.getByRole('checkbox', { name: /^Select all/ }).first().focus();
  await page.keyboard.press('Space');
};

/** Asks a question that nobody answers: its conversation is kept. */
const asked = async (page: Page): Promise<void> => {
  await page.locator('#message').fill('What is a stale allowlist?');
  await page.locator('#message').press('Enter');
  await page.locator('[data-cause]').waitFor({ timeout: 10_000 });
};
/** Has a recording transcribed. */
const transcribed = async (page: Page): Promise<void> => {
  await page.route(MODEL, (route) => route.fulfill({ json: { text: 'Hello.' }, headers: { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' } }));
  await modelField(page).fill('whisper-base');
  await modelField(page).press('Enter');
  await page.locator('.drop input[type=file]').setInputFiles({ name: 'memo.wav', mimeType: 'audio/wav', buffer: Buffer.from('RIFF') });
  await page.locator('.result').getByText('Hello.').waitFor({ timeout: 10_000 });
};

export const DIALOGS: readonly Opened[] = [
  { name: 'repair all', of: 'ui/many', path: '/', world: 'failing', button: 'Repair all…' },
  { name: 'redeploy all', of: 'ui/many', path: '/', world: 'failing', button: 'Redeploy all…' },
  { name: 'add a model', of: 'pages/catalogue/add', path: '/models', button: 'Add a model…' },
  { name: 'resume an upload', of: 'pages/catalogue/upload', path: '/models', world: 'failing', button: /^Resume upload/ },
  { name: 'deploy a model of the list', of: 'ui/deploy', path: '/models', button: /^Deploy…: / },
  { name: 'deploy a model', of: 'ui/deploy', path: model(0), button: 'Deploy…' },
  { name: 'remove a model that is deployed', of: 'pages/catalogue/remove', path: model(0), button: 'Remove…' },
  { name: 'remove a model', of: 'pages/catalogue/remove', path: model(3), button: 'Remove…' },
  { name: 'deploy to a device', of: 'ui/deploy', path: device, button: 'Deploy a model…' },
  { name: 'settings of a deployment', of: 'ui/deploy', path: device, menu: 'More', button: 'Settings…' },
  { name: 'remove from a device', of: 'pages/device/row_actions', path: device, menu: 'More', button: 'Remove…' },
  { name: 'update a device', of: 'pages/device/update', path: device, button: 'Update…' },
  { name: 'change a port', of: 'pages/device/port', path: device, menu: 'More', button: 'Change port…' },
  { name: 'transfer a device', of: 'pages/device/transfer', path: (world) => `${device(world)}?tab=about`, button: /^Transfer the device/ },
  { name: 'remove a device', of: 'pages/device/remove', path: (world) => `${device(world)}?tab=about`, button: /^Remove the device|^Remove…/ },
  { name: 'create a key', of: 'pages/keys/create', path: '/keys', button: 'Create a key' },
  { name: 'revoke a key', of: 'pages/keys/revoke', path: '/keys', button: /^Revoke / },
  { name: 'invite a member', of: 'pages/members/invite', path: '/members', button: /^Invite/ },
  { name: 'change a role', of: 'pages/members/role', path: '/members', button: /^Change/ },
  { name: 'remove a member', of: 'pages/members/remove', path: '/members', button: /^Remove/ },
  { name: 'create a token', of: 'pages/tokens/create', path: '/tokens', button: /^Create/ },
  { name: 'revoke a token', of: 'pages/tokens/page', path: '/tokens', button: /^Revoke/ },
  { name: 'remove an origin', of: 'pages/settings/allowlist', path: '/settings', button: /^Remove/ },
  { name: 'cancel an operation', of: 'pages/operations/actions', path: '/operations', button: /^Cancel…: / },
  { name: 'retry an operation', of: 'pages/operations/actions', path: '/operations', world: 'failing', button: /^Retry/ },
  { name: 'retry expired repairs', of: 'ui/many', path: '/repairs', world: 'failing', button: /^Retry .* expired/ },
  { name: 'repair devices', of: 'ui/many', path: '/devices', world: 'failing', before: selectAll, button: 'Repair…' },
  { name: 'deploy to devices', of: 'ui/deploy', path: '/devices', before: selectAll, button: 'Deploy…' },
  { name: 'update devices', of: 'pages/devices/bulk', path: '/devices', before: selectAll, button: /^Update/ },
  { name: 'tag devices', of: 'pages/devices/bulk', path: '/devices', before: selectAll, button: /^Add tag/ },
  { name: 'remove devices', of: 'pages/devices/bulk_more', path: '/devices', before: selectAll, button: 'Remove…' },
  { name: 'cancel deployments', of: 'pages/deployments/bulk', path: '/deployments?state=progress', before: selectAll, button: 'Cancel…' },
  { name: 'conversations', of: 'pages/workspace/page', path: '/workspace', button: 'Conversations', narrow: true },
  { name: 'find by words', of: 'app/palette', path: '/', button: /^Search/ },
  { name: 'retire a device', of: 'pages/devices/retire', path: '/devices', button: /^Retire/ },
  { name: 'delete a conversation', of: 'pages/workspace/history', path: '/workspace', before: asked, button: /^Delete What/ },
  { name: 'delete all conversations', of: 'pages/workspace/history', path: '/workspace', before: asked, button: 'Delete all…' },
  { name: 'clear results', of: 'pages/workspace/files', path: '/workspace', before: transcribed, button: /^Clear/ },
];
