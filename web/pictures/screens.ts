// What pictures are taken of: the pages, and what lies above them.

import type { Page } from 'playwright-core';

import { ask, CAUSES, MODEL, modelField, prepare } from './causes.ts';
import { hostileQuery, WORDS as HOSTILE } from './hostile.ts';
import type { Fake } from './server.ts';
import type { World, WorldName } from './world.ts';

export interface Screen {
  name: string;
  path: (world: World) => string;
  /** The states in which the page differs; all without it. */
  worlds?: readonly WorldName[];
  /** Whether the page is taken while reads fail too: every one, or those of a pattern. */
  broken?: true | RegExp;
  /** Whether the page is taken with hostile words although something is done first. Other pages are. */
  hostile?: boolean;
  /** Whether the page is taken while it waits. Without it, it is if nothing is done first. */
  loading?: boolean;
  /** The reads that have no answer while the page waits; all without it. */
  held?: RegExp;
  /** What is there before the page is taken while it waits for the reads that are held. */
  there?: string;
  /** Whether it is no more than a dialog that `keyboard.ts` opens too. */
  dialog?: boolean;
  /** Whether the page is for people who are not logged in. */
  open?: boolean;
  /** The address that the page comes from, if it is another one. */
  from?: string;
  before?: (page: Page, fake: Fake) => Promise<void>;
  act?: (page: Page, fake: Fake) => Promise<void>;
}

/** Who logs in. */
const PERSON = { email: 'ada@example.com', password: 'correct horse battery' };
const SOME = ['one', 'many', 'failing'] as const;
/** All reads except who is logged in, and one device. */
const BUT_THE_DEVICE = /^\/(?!me$|events$|devices\/\w+$)/;
const WITH_ITS_HEAD = { held: BUT_THE_DEVICE, there: '.device-head' };
const at = (path: string) => () => path;
const first = (world: World): string => `/devices/${world.devices[2]?.device_id ?? world.devices[0]?.device_id ?? 'dev_none'}`;
const press = (name: string | RegExp) => async (page: Page): Promise<void> => {
  await page.getByRole('button', { name }).first().click({ timeout: 3_000 });
};

/** Opens the menu of the last model that has one, and presses a button in it. */
const inMenu = (name: string) => async (page: Page): Promise<void> => {
  const menu = page.locator('.model .menu').last();
  await menu.locator('summary').click({ timeout: 3_000 });
  await menu.getByRole('button', { name }).click({ timeout: 3_000 });
};

const WORDS = 'A model refuses a page whose **origin** is not on its allowlist. Three ways out:\n\n1. Press *Repair*: the model keeps running.\n2. Press *Redeploy*, if the file is damaged too.\n3. From a terminal:\n\n```sh\nlink repair ward-01 phi-4-mini\n```\n\n| way | time | model |\n|---|---|---|\n| repair | 1 s | keeps running |\n| redeploy | minutes | is loaded anew |\n';
const chunk = (document: unknown): string => `data: ${JSON.stringify(document)}\n\n`;
const ANSWER = `${chunk({ choices: [{ delta: { content: WORDS } }] })}${chunk({ choices: [], usage: { prompt_tokens: 14, completion_tokens: 96 } })}data: [DONE]\n\n`;

/** A page of somebody who is not logged in whose request is refused: what is filled in, and what the backend answers. */
function refusedAt(name: string, path: string, fields: Readonly<Record<string, string>>, problem: { status: number; code: string; detail: string; hint?: string }): Screen {
  return {
    name, path: at(path), worlds: ['empty'], open: true,
    before: async (page) => {
      const headers: Record<string, string> = problem.status === 429 ? { 'retry-after': '900' } : {};
      await page.route('**/api/v1/session', (route) => route.fulfill({ status: problem.status, contentType: 'application/problem+json', headers, body: JSON.stringify(problem) }));
    },
    act: async (page) => {
      for (const [name, value] of Object.entries(fields)) await page.locator(`[name="${name}"]`).fill(value);
      await page.locator('form [type=submit]').click();
      await page.locator('[role=alert]', { hasText: /\w/ }).first().waitFor({ timeout: 3_000 });
    },
  };
}

/** The ports of models answer, and no device names itself. */
async function unnamed(page: Page): Promise<void> {
  await page.route(MODEL, (route) => route.fulfill({ body: '{}', headers: { 'access-control-allow-origin': '*' } }));
}

/** Has the model answer whatever it is asked. */
async function answering(page: Page, answer = ANSWER): Promise<void> {
  const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
  await page.route(MODEL, (route) => route.fulfill({ contentType: 'text/event-stream', body: answer, headers }));
}

/** What a hostile model answers: hostile words wherever Markdown can have words, and as what it thought. */
function hostileAnswer(): string {
  const markdown = HOSTILE.flatMap((words) => [
    words, `# ${words}`, `- ${words}`, `> ${words}`, `[${words}](${words})`, `[link](${words.trim()})`, `![${words}](${words})`, `![image](x "${words}")`,
    `\`${words}\``, `\`\`\`${words}\n${words}\n\`\`\``, `| ${words} | b |\n|---|---|\n| ${words} | ${words} |`, `<${words}>`, `[to]: ${words}\n\n[to]`,
  ]).join('\n\n');
  const pieces = [{ reasoning_content: HOSTILE.join('\n\n') }, { content: markdown }];
  return `${pieces.map((delta) => chunk({ choices: [{ delta }] })).join('')}${chunk({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 9 } })}data: [DONE]\n\n`;
}

const HOSTILE_LABELS = HOSTILE.map((label, at) => ({ label, score: 0.5, share: 0.5, start: at, end: at + 1 }));
/** What a hostile model answers to a file, by the plugin that serves it. */
const HOSTILE_RESULTS: Readonly<Record<string, object>> = {
  audio_transcriber: { text: HOSTILE.join('\n'), segments: HOSTILE.map((text, at) => ({ text, start: at, end: at + 1 })) },
  image_classifier: { data: HOSTILE_LABELS },
  audio_classifier: { data: HOSTILE_LABELS, summary: HOSTILE_LABELS },
};
/** The names of files that somebody else has named. */
const HOSTILE_FILES = [HOSTILE.filter((words) => words.length < 500).join(' '), ...HOSTILE.filter((words) => words.length >= 500)];
const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

/** Files with hostile names, of which a hostile model has made something. */
function hostileResults(plugin: string): Screen {
  return {
    name: `workspace-hostile-${plugin}`, path: at('/workspace'), worlds: [], hostile: true,
    before: async (page, { world }) => {
      // A model whose plugin is this one, and which the tab has chosen.
      const served = world.deployments.find(({ task, device_id, serving }) => !task && serving?.is_serving && world.devices.some((one) => one.device_id === device_id && one.online && one.status !== 'updating'));
      await page.addInitScript((target) => sessionStorage.setItem('link.workspace.model.usr_1', target), `${served?.model_id} ${served?.device_id}`);
      await page.route(/\/api\/v1\/models\?/, async (route) => {
        const list = (await (await route.fetch()).json()) as { items: { model_id: string }[] };
        await route.fulfill({ json: { ...list, items: list.items.map((one) => (one.model_id === served?.model_id ? { ...one, plugin } : one)) } });
      });
      const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
      await page.route(MODEL, (route) => route.fulfill({ json: HOSTILE_RESULTS[plugin], headers }));
    },
    act: async (page) => {
      await page.locator('.drop input[type=file]').setInputFiles(HOSTILE_FILES.map((name) => ({ name, mimeType: 'image/png', buffer: PIXEL })), { timeout: 3_000 });
      await page.locator('.result[data-state=done]').nth(HOSTILE_FILES.length - 1).waitFor({ timeout: 10_000 });
      for (const summary of await page.locator('.transcript summary').all()) await summary.click();
      // A name or a label that does not break would push what stands beside it out of sight.
      await page.waitForFunction(() => [...document.querySelectorAll('.result')].every(({ clientWidth, scrollWidth }) => scrollWidth <= clientWidth), null, { timeout: 3_000 });
    },
  };
}

async function asked(page: Page): Promise<void> {
  await page.locator('#message').fill('How do I repair a stale allowlist?');
  await page.locator('#message').press('Enter');
  await page.locator('.answered .usage').waitFor({ timeout: 10_000 });
}

/** The backend is upgraded and restarted: streams end, and the page finds another one when it is back. */
export async function restarted(page: Page, fake: Fake): Promise<void> {
  fake.upgraded = true;
  for (const stream of fake.streams) stream.end();
  await page.getByText('newer version of these pages').waitFor({ timeout: 15_000 });
}

const LISTS: Screen[] = ['devices', 'models', 'deployments', 'repairs', 'operations', 'usage', 'keys', 'members', 'tokens', 'audit', 'settings'].map(
  (name) => ({ name, path: at(`/${name}`), broken: true }),
);

/** Addresses that somebody else has made: what pages read from them is hostile. */
const ADDRESSES: Screen[] = ([
  ['devices', '/devices', ['q', 'select', 'sort', 'hide']],
  ['deployments', '/deployments', ['q', 'state', 'model_id', 'device_id', 'select', 'sort']],
  ['repairs', '/repairs', ['q', 'state', 'model_id', 'device_id', 'select']],
  ['models', '/models', ['q', 'state', 'sort', 'open']],
  ['keys', '/keys', ['q', 'show', 'open']],
  ['audit', '/audit', ['action', 'actor', 'subject', 'since', 'until']],
  ['usage', '/usage', ['by', 'period', 'show', 'model_id', 'device_id']],
  ['operations', '/operations', ['state']],
  ['add', '/devices/add', ['key', 'system', 'tags']],
  ['tab', null, ['tab', 'period']],
  ['logs', null, ['q', 'severity', 'category', 'wrap']],
  ['workspace', '/workspace', ['model', 'conversation', 'device']],
] as const).map(([name, path, names]) => ({
  name: `address-${name}`, worlds: [], hostile: true, loading: false,
  ...(name === 'workspace' ? { before: unnamed } : {}),
  path: (world) => `${path ?? first(world)}?${name === 'logs' ? 'tab=logs&' : ''}${hostileQuery(...names)}`,
}));

export const SCREENS: readonly Screen[] = [
  { name: 'overview', path: at('/'), broken: true },
  ...LISTS,
  { name: 'add', path: at('/devices/add'), worlds: ['empty', 'many'], broken: true },
  { name: 'start', path: at('/'), worlds: [], loading: true, held: /^\/me$/ },
  { name: 'start-of-setup', path: at('/setup'), worlds: [], loading: true, held: /^\/me$/ },
  { name: 'device-models', path: first, worlds: SOME, broken: BUT_THE_DEVICE, ...WITH_ITS_HEAD },
  ...['performance', 'logs', 'commands'].map((tab): Screen => ({ name: `device-${tab}`, path: (world) => `${first(world)}?tab=${tab}`, worlds: SOME, broken: BUT_THE_DEVICE, ...WITH_ITS_HEAD })),
  {
    name: 'device-performance-read', path: (world) => `${first(world)}?tab=performance`, worlds: ['many'],
    act: async (page) => {
      await page.locator('.chart-readout').first().focus();
      await page.locator('.chart-canvas').nth(1).hover({ position: { x: 300, y: 60 } });
    },
  },
  { name: 'device-logs-wrapped', path: (world) => `${first(world)}?tab=logs&wrap=yes`, worlds: SOME, ...WITH_ITS_HEAD },
  { name: 'device-about', path: (world) => `${first(world)}?tab=about`, worlds: SOME, broken: true, loading: false },
  { name: 'model', path: (world) => `/models/${world.models[0]?.model_id ?? 'mdl_none'}`, worlds: SOME, broken: true },
  { name: 'operation', path: (world) => `/operations/${world.operations[0]?.operation_id ?? 'opr_none'}`, worlds: SOME, broken: true },
  { name: 'nowhere', path: at('/devices/dev_ffffffffffffffffffffffffffffffff'), worlds: ['many'] },
  { name: 'login', path: at('/login'), worlds: ['empty'], open: true },
  { name: 'setup', path: at('/setup'), worlds: ['empty'], open: true },
  { name: 'invite', path: at('/invite#abc'), worlds: ['empty'], open: true },
  refusedAt('login-refused', '/login', PERSON, { status: 401, code: 'invalid-credentials', detail: 'the e-mail or the password is wrong', hint: 'check both and try again' }),
  refusedAt('login-locked', '/login', PERSON, { status: 429, code: 'too-many-attempts', detail: 'too many attempts; wait 900 seconds' }),
  refusedAt('setup-refused', '/setup', { 'setup-token': 'lst_0123456789', ...PERSON }, { status: 401, code: 'setup-token-invalid', detail: 'the setup token is wrong', hint: 'the backend keeps the token in the file `setup-token` of its data folder' }),
  refusedAt('invite-refused', '/invite#abc', PERSON, { status: 410, code: 'invitation-invalid', detail: 'the invitation is unknown, was used, has expired, or is for another e-mail', hint: 'use the e-mail that was invited, or ask for a new invitation' }),
  { name: 'machine', path: at('/device'), worlds: ['empty'] },
  {
    name: 'machine-unknown', path: at('/device#BCDF-GHJK'), worlds: ['empty'],
    before: async (page) => {
      const body = JSON.stringify({ status: 404, code: 'user-code-unknown', detail: 'no login waits for this code', hint: 'copy the code again; a code is valid once, for ten minutes' });
      await page.route('**/auth/device/inquire', (route) => route.fulfill({ status: 404, contentType: 'application/problem+json', body }));
    },
    act: press('Continue'),
  },
  { name: 'machine-asks', path: at('/device#BCDF-GHJK'), worlds: ['empty'], act: press('Continue') },
  { name: 'devices-columns', path: at('/devices?hide=cpu,tags'), worlds: ['many'], act: async (page) => page.locator('summary', { hasText: 'Columns' }).click() },
  { name: 'devices-unread', path: at('/devices?select=tag%3Dlab,sate%3Doffline'), worlds: ['many'] },
  { name: 'repairs-device', path: at('/repairs'), worlds: ['many'], act: async (page) => page.locator('summary', { hasText: 'Choose a device' }).click() },
  { name: 'devices-views', path: at('/devices?select=state%3Doffline'), worlds: ['many'], act: async (page) => page.locator('summary', { hasText: 'Views' }).click() },
  { name: 'device-more', path: first, worlds: ['many'], act: async (page) => page.locator('.model .menu summary').first().click() },
  { name: 'device-port', path: first, worlds: ['many'], dialog: true, act: inMenu('Change port…') },
  { name: 'device-transfer', path: (world) => `${first(world)}?tab=about`, worlds: ['many'], dialog: true, act: press('Transfer the device…') },
  { name: 'device-remove', path: (world) => `${first(world)}?tab=about`, worlds: ['many'], dialog: true, act: press('Remove the device…') },
  { name: 'device-update', path: first, worlds: ['many'], dialog: true, act: press('Update…') },
  { name: 'device-deploy', path: first, worlds: ['many'], dialog: true, act: press('Deploy a model…') },
  { name: 'device-command', path: (world) => `${first(world)}?tab=commands`, worlds: ['many'], hostile: true, act: async (page) => page.locator('.command-list summary').first().click() },
  {
    name: 'device-refused', path: (world) => `${first(world)}?tab=about`, worlds: [], hostile: true,
    act: async (page) => {
      await page.locator('input[name=name]').fill('another name');
      await page.locator('input[name=name]').press('Enter');
      await page.locator('[role=alert], .notice', { hasText: 'zero' }).first().waitFor({ timeout: 3_000 });
    },
  },
  {
    name: 'deploy-refused', path: first, worlds: ['many'], hostile: true,
    act: async (page) => {
      await press('Deploy a model…')(page);
      await page.getByRole('dialog').getByRole('button', { name: 'Deploy' }).click({ timeout: 3_000 });
      // In sight, and not below what the dialog shows.
      await page.waitForFunction(() => {
        const [foot, alert] = ['.dialog-foot', '.dialog-body > [role=alert]'].map((part) => document.querySelector(`dialog ${part}`)?.getBoundingClientRect());
        return foot && alert && alert.height > 0 && alert.top + 10 < foot.top;
      }, null, { timeout: 3_000 });
    },
  },
  ...ADDRESSES,
  { name: 'models-add', path: at('/models?open=add'), worlds: ['many'], dialog: true },
  { name: 'keys-create', path: at('/keys?open=create'), worlds: ['many'], dialog: true },
  { name: 'members-invite', path: at('/members?open=invite'), worlds: ['many'], dialog: true },
  { name: 'tokens-create', path: at('/tokens?open=create'), worlds: ['many'], dialog: true },
  { name: 'devices-retire', path: at('/devices?open=retire'), worlds: ['many'] },
  { name: 'palette', path: at('/'), worlds: ['many'], act: (page) => page.keyboard.press('Control+k') },
  { name: 'drawer', path: at('/devices'), worlds: ['many'], act: async (page) => { if (await page.locator('.topbar').isVisible()) await press(/menu/i)(page); } },
  {
    name: 'repair-all', path: at('/'), worlds: ['failing'],
    act: async (page) => {
      await press('Repair all…')(page);
      await page.getByRole('dialog').getByText('This touches').waitFor({ timeout: 3_000 });
    },
  },
  {
    name: 'workspace-refused', path: at('/workspace'), worlds: ['failing'],
    before: async (page) => {
      await page.route(MODEL, (route) => (route.request().method() === 'GET' ? route.fulfill({ body: '{}' }) : route.abort()));
    },
    act: async (page) => {
      await page.locator('#message').fill('Summarise this letter in two sentences.');
      await page.locator('#message').press('Enter');
      await page.locator('[data-cause]').waitFor({ timeout: 10_000 });
    },
  },
  {
    name: 'workspace-answer', path: at('/workspace'), worlds: ['many'], before: (page) => answering(page),
    act: asked,
  },
  {
    // The question is the title of its conversation.
    name: 'workspace-hostile', path: at('/workspace'), worlds: [], hostile: true, before: (page) => answering(page, hostileAnswer()),
    act: async (page) => {
      await page.locator('#message').fill(HOSTILE.filter((words) => words.length < 500).join(' '));
      await page.locator('#message').press('Enter');
      await page.locator('.answered .usage').waitFor({ timeout: 10_000 });
    },
  },
  ...Object.keys(HOSTILE_RESULTS).map(hostileResults),
  {
    name: 'workspace-elsewhere', path: at('/workspace'), worlds: ['many'],
    before: async (page, fake) => {
      const here = fake.world.deployments.find(({ serving }) => serving?.is_serving)?.device_id ?? '';
      const headers = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'link-device', 'link-device': here };
      await page.route(MODEL, (route) => route.fulfill({ body: '{}', headers }));
    },
    act: async (page) => {
      await modelField(page).click();
      await page.getByRole('option', { name: /^(?!.*Embeddings).*another computer/ }).first().click({ timeout: 3_000 });
      await page.locator('.offer').waitFor({ timeout: 3_000 });
    },
  },
  {
    name: 'conversation-delete', path: at('/workspace'), worlds: ['many'], before: (page) => answering(page),
    act: async (page) => {
      await asked(page);
      // On a phone the list is a dialog of its own.
      if (await page.getByRole('button', { name: 'Conversations' }).isVisible()) await press('Conversations')(page);
      await press(/^Delete How do I/)(page);
    },
  },
  {
    name: 'deploy-settings', path: first, worlds: ['many'],
    act: async (page) => {
      await inMenu('Settings…')(page);
      await page.getByLabel('Context').fill('12');
      await page.getByRole('dialog').getByRole('button', { name: 'Deploy' }).click();
      await page.getByText('Type a whole number').waitFor({ timeout: 3_000 });
    },
  },
  {
    name: 'key-created', path: at('/keys'), worlds: ['many'],
    act: async (page) => {
      await press('Create a key')(page);
      await press('Create the key')(page);
      await page.locator('#new-key').waitFor({ timeout: 3_000 });
      await press('Windows (PowerShell)')(page);
    },
  },
  {
    name: 'token-created', path: at('/tokens?open=create'), worlds: ['many'],
    act: async (page) => {
      await page.locator('#token-name').fill('nightly export');
      await page.getByRole('dialog').getByRole('checkbox').first().check();
      await press('Create the token')(page);
      await page.locator('#new-token').waitFor({ timeout: 3_000 });
    },
  },
  {
    name: 'invitation-created', path: at('/members?open=invite'), worlds: ['many'],
    act: async (page) => {
      await press('Create the invitation')(page);
      await page.locator('#new-invitation').waitFor({ timeout: 3_000 });
    },
  },
  { name: 'deploy', path: first, worlds: ['many'], dialog: true, act: press('Deploy a model…') },
  {
    name: 'workspace-embeddings', path: at('/workspace'), worlds: ['many'], before: unnamed,
    act: async (page) => {
      await modelField(page).fill('bge-small');
      await modelField(page).press('Enter');
      await page.locator('.other-use pre').waitFor({ timeout: 3_000 });
    },
  },
  {
    name: 'newer', path: at('/workspace'), worlds: ['many'], before: unnamed,
    act: async (page, fake) => {
      await page.locator('#message').fill('A message that is not sent yet.');
      await restarted(page, fake);
      fake.upgraded = false;
    },
  },
  {
    name: 'workspace-model', path: at('/workspace'), worlds: ['many'], before: unnamed,
    act: async (page) => {
      await modelField(page).click();
      await modelField(page).fill('phi');
      await page.getByRole('option').first().waitFor({ timeout: 3_000 });
    },
  },
  ...CAUSES.map((played): Screen => ({
    name: `workspace-cause-${played.cause}`, path: at('/workspace'), worlds: ['many'],
    ...(played.from ? { from: played.from } : {}),
    before: (page, fake) => prepare(page, fake, played),
    act: (page) => ask(page, played),
  })),
  { name: 'workspace', path: at('/workspace'), broken: true, before: unnamed },
];
