// What pictures are taken of: the pages, and what lies above them.

import type { Page } from 'playwright-core';

import type { Fake } from './server.ts';
import type { World, WorldName } from './world.ts';

export interface Screen {
  name: string;
  path: (world: World) => string;
  /** The states in which the page differs; all without it. */
  worlds?: readonly WorldName[];
  /** Whether the page is taken while every read fails too. */
  broken?: boolean;
  /** Whether the page is for people who are not logged in. */
  open?: boolean;
  before?: (page: Page, fake: Fake) => Promise<void>;
  act?: (page: Page, fake: Fake) => Promise<void>;
}

const SOME = ['one', 'many', 'failing'] as const;
const at = (path: string) => () => path;
const first = (world: World): string => `/devices/${world.devices[2]?.device_id ?? world.devices[0]?.device_id ?? 'dev_none'}`;
const press = (name: string | RegExp) => async (page: Page): Promise<void> => {
  await page.getByRole('button', { name }).first().click({ timeout: 3_000 });
};

const LISTS: Screen[] = ['devices', 'models', 'deployments', 'repairs', 'operations', 'usage', 'keys', 'members', 'tokens', 'audit', 'settings'].map(
  (name) => ({ name, path: at(`/${name}`), broken: true }),
);

export const SCREENS: readonly Screen[] = [
  { name: 'overview', path: at('/'), broken: true },
  ...LISTS,
  { name: 'add', path: at('/devices/add'), worlds: ['empty', 'many'] },
  { name: 'device-models', path: first, worlds: SOME, broken: true },
  ...['performance', 'logs', 'commands', 'about'].map((tab): Screen => ({ name: `device-${tab}`, path: (world) => `${first(world)}?tab=${tab}`, worlds: SOME })),
  { name: 'model', path: (world) => `/models/${world.models[0]?.model_id ?? 'mdl_none'}`, worlds: SOME, broken: true },
  { name: 'operation', path: (world) => `/operations/${world.operations[0]?.operation_id ?? 'opr_none'}`, worlds: SOME },
  { name: 'nowhere', path: at('/devices/dev_ffffffffffffffffffffffffffffffff'), worlds: ['many'] },
  { name: 'login', path: at('/login'), worlds: ['empty'], open: true },
  { name: 'setup', path: at('/setup'), worlds: ['empty'], open: true },
  { name: 'invite', path: at('/invite#abc'), worlds: ['empty'], open: true },
  { name: 'machine', path: at('/device'), worlds: ['empty'] },
  { name: 'machine-asks', path: at('/device#BCDF-GHJK'), worlds: ['empty'], act: press('Continue') },
  { name: 'palette', path: at('/'), worlds: ['many'], act: (page) => page.keyboard.press('Control+k') },
  { name: 'drawer', path: at('/devices'), worlds: ['many'], act: async (page) => { if (await page.locator('.topbar').isVisible()) await press(/menu/i)(page); } },
  { name: 'workspace', path: at('/workspace'), broken: true },
];
