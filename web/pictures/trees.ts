// What a screen reader finds in five tasks: the accessibility tree of each, compared with a committed one.
//   node pictures/trees.ts [--write]

import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { chromium, type Page } from 'playwright-core';

import { CHROMIUM, enter, settle } from './browser.ts';
import { serve, type Fake } from './server.ts';
import { worldOf, type WorldName } from './world.ts';

interface Task {
  name: string;
  world: WorldName;
  path: (fake: Fake) => string;
  signedIn?: boolean;
  act?: (page: Page) => Promise<void>;
  /** The part of the page that the task is about. */
  part: string;
}

const button = (page: Page, name: string | RegExp): Promise<void> => page.getByRole('button', { name }).first().click();

const TASKS: readonly Task[] = [
  { name: 'log-in', world: 'empty', path: () => '/login', signedIn: false, part: '#app' },
  {
    name: 'repair-what-is-stale', world: 'one', path: () => '/', part: '#content',
    act: async (page) => {
      await button(page, 'Repair all…');
      await page.getByRole('dialog').getByText('This touches').waitFor();
    },
  },
  { name: 'find-a-device', world: 'one', path: () => '/devices?q=ward', part: '#content' },
  { name: 'see-what-a-device-does', world: 'one', path: ({ world }) => `/devices/${world.devices[0]?.device_id}`, part: '#app' },
  {
    name: 'ask-and-be-refused', world: 'one', path: () => '/workspace', part: '#content',
    act: async (page) => {
      await page.getByRole('textbox', { name: /message/i }).fill('Say hello.');
      await page.keyboard.press('Enter');
      await page.getByRole('group', { name: 'What can be done' }).waitFor({ timeout: 10_000 });
    },
  },
];

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
const world = worldOf('one');
for (const deployment of world.deployments) deployment.stale = true;
world.summary.deployments.stale = world.deployments.length;
world.summary.devices.online = world.devices.length;
const fake = await serve(world);
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
let changed = 0;
try {
  for (const task of TASKS) {
    fake.world = task.world === 'one' ? world : worldOf(task.world);
    const page = await enter(browser, { viewport: { width: 1280, height: 800 } }, { signedIn: task.signedIn !== false });
    // The model's port answers, and refuses the preflight of this page.
    await page.route(/127\.0\.0\.1:808\d/, (route) => (route.request().method() === 'GET' ? route.fulfill({ body: '{}' }) : route.abort()));
    await page.goto(fake.origin + task.path(fake));
    await settle(page);
    await task.act?.(page);
    await settle(page);
    const part = task.act && (await page.getByRole('dialog').count()) > 0 ? page.getByRole('dialog') : page.locator(task.part);
    // The port of the made-up backend is another one in each run.
    const tree = `${(await part.ariaSnapshot()).replaceAll(fake.origin, 'http://127.0.0.1:1')}\n`;
    const file = new URL(`trees/${task.name}.yml`, import.meta.url);
    const known = await readFile(file, 'utf8').catch(() => '');
    if (tree !== known) {
      changed += 1;
      if (values.write) await writeFile(file, tree);
      else process.stdout.write(`fault: the tree of ${task.name} has changed (\`cargo xtask screenshots --trees\` writes it):\n${tree}`);
    }
    await page.context().close();
  }
} finally {
  await browser.close();
  await fake.close();
}
process.stdout.write(`${TASKS.length} accessibility trees, ${changed} changed\n`);
process.exitCode = changed > 0 && !values.write ? 1 : 0;
