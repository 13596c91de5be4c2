// A page that nobody touches asks its backend for nothing in a minute: what it shows comes by the stream.

import { settle } from '../browser.ts';
import { worldOf } from '../world.ts';
import { is, served, watched, type Day } from './day.ts';

/** Half a minute, in milliseconds: a stream that is silent for 40 seconds counts as dead, so a heartbeat comes between. */
const HALF = 30_000;
/** How long answers to what a timer has asked take to be seen, in milliseconds of this machine's clock. */
const SEEN = 400;
/** After how many of these a page that still asks does so for ever. */
const MOST_LOOKS = 50;
/** How often in a row nothing was asked once a page is whole: a busy machine is late now and then. */
const QUIET = 3;

export const IDLE: readonly Day[] = ['/', '/devices', '/deployments', '/repairs', '/operations', '/workspace'].map((path): Day => async (browser, check) => {
  await served(worldOf('many'), async (fake) => {
    const { page } = await watched(browser);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.clock.install();
    await page.goto(fake.origin + path);
    await settle(page);
    // Long lists are loaded behind what is shown first.
    for (let looks = 0, quiet = 0, before = 0; quiet < QUIET && looks < MOST_LOOKS; looks += 1) {
      await page.waitForTimeout(SEEN);
      quiet = asked.length === before ? quiet + 1 : 0;
      before = asked.length;
    }
    asked.length = 0;
    for (const _ of ['first', 'second']) {
      await page.clock.fastForward(HALF);
      for (const stream of fake.streams) stream.write(': heartbeat\n\n');
      await page.waitForTimeout(SEEN);
    }
    check(`an idle minute at ${path} asks for nothing`, is(asked, []));
    await page.context().close();
  });
});
