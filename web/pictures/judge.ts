// What is wrong with a page besides its looks: things that are wider than the screen, rows of several heights or endless ones, words that
// became a part of the page or that nobody sees, targets that are too small for a finger, and violations that axe finds.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import type { Page } from 'playwright-core';

const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** The most that a row is high which has the height of its lines, in pixels: two names of two lines
 * each, three lines of a sentence, a badge and a button. */
const HIGHEST = 200;
/** The rules of axe that look at colours. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

/** Returns what is wrong with a page. `dark` tells whether its dark colours are looked at too. */
export async function judged(page: Page, { dark = false } = {}): Promise<string[]> {
  const found: string[] = [];
  const overhang = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (overhang > 0) found.push(`${overhang} px wider than the screen`);
  const heights = await page.evaluate(() => [...document.querySelectorAll('.list-rows, .table-rows, .log-frame:not(.wrapped) > .log-rows')].map((group) =>
    [...group.querySelectorAll(':scope > :is([role=row]:not(.measured), .log-row)')].map((row) => row.getBoundingClientRect().height)));
  const overlaps = await page.evaluate(() => [...document.querySelectorAll('.wrapped .log-row, .measured')].map((row) => row.getBoundingClientRect())
    .sort((one, other) => one.top - other.top).some(({ top }, index, all) => index > 0 && top < (all[index - 1]?.bottom ?? 0) - 1));
  if (overlaps) found.push('rows lie on each other');
  const highest = await page.evaluate(() => Math.max(0, ...[...document.querySelectorAll('.measured')].map((row) => row.getBoundingClientRect().height)));
  if (highest > HIGHEST) found.push(`a row is ${highest} px high`);
  const taken = await page.evaluate(() => document.documentElement.dataset['owned'] !== undefined || document.querySelector('img[src=x], iframe, [href^="javascript:"], [onerror]') !== null || [...document.querySelectorAll('button')].some((button) => button.textContent === 'Remove all devices'));
  if (taken) found.push('what somebody has written became a part of the page');
  if (heights.some((group) => new Set(group).size > 1)) found.push(`rows have several heights: ${JSON.stringify(heights)}`);
  const outside = await page.evaluate(() => [...document.querySelectorAll<HTMLElement>('td :is(button, a, input, select)')].filter((control) => {
    const [own, cell] = [control.getBoundingClientRect(), control.closest('td')?.getBoundingClientRect()];
    return cell !== undefined && own.width > 0 && !control.closest('.visually-hidden') && (own.right > cell.right + 1 || own.left < cell.left - 1);
  }).map((control) => control.outerHTML.slice(0, 100)));
  if (outside.length > 0) found.push(`${outside.length} controls stick out of their cells: ${outside[0]}`);
  return [...found, ...(await unseen(page)), ...(await smallTargets(page)), ...(await violations(page, { dark }))];
}

/** Returns words with characters that turn the line round, have no width or are no characters: nobody can see what they are. */
function unseen(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const hidden = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]|\p{Surrogate}/u;
    const words: string[] = [];
    for (const part of document.body.querySelectorAll('*')) {
      words.push(part.getAttribute('title') ?? '', part.getAttribute('aria-label') ?? '');
      for (const node of part.childNodes) if (node instanceof Text && part.localName !== 'textarea') words.push(node.data);
    }
    const found = words.filter((one) => hidden.test(one));
    return found.length > 0 ? [`${found.length} texts have characters that nobody sees: ${JSON.stringify(found[0]?.slice(0, 80))}`] : [];
  });
}

/** The least side of what a finger touches, in pixels. */
const FINGER = 44;

/** Returns the targets that are too small for a finger, on touch screens. Links in a sentence are exempt, and a checkbox is measured with
 * its label. A link in a row is as large as the area in which a touch reaches it. */
function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate((least) => {
    if (!matchMedia('(pointer: coarse)').matches) return [];
    const small: string[] = [];
    for (const link of document.querySelectorAll<HTMLElement>('[role=row] a:not(.button)')) {
      const { left, right, top, bottom } = link.getBoundingClientRect();
      const [x, y] = [(left + right) / 2, (top + bottom) / 2];
      const row = link.closest('[role=row]')?.getBoundingClientRect();
      const frame = link.closest('.list-scroll, .table-scroll')?.getBoundingClientRect();
      // A row that is half out of sight is scrolled before it is touched.
      if (!row || row.top < (frame?.top ?? 0) || row.bottom > Math.min(frame?.bottom ?? innerHeight, innerHeight)) continue;
      const isReached = (across: number, down: number): boolean => document.elementFromPoint(across, down)?.closest('a') === link;
      if (right <= left || x < (frame?.left ?? 0) || x > Math.min(frame?.right ?? innerWidth, innerWidth)) continue;
      if (!isReached(x, y)) {
        // What lies above the page may cover a link, and its neighbour in the same cell may not.
        const above = document.elementFromPoint(x, y)?.closest('[role=cell]');
        if (above && above === link.closest('[role=cell]')) small.push(`covered ${link.outerHTML.slice(0, 100)}`);
        continue;
      }
      const reach = (across: number, down: number): number => {
        let steps = 0;
        while (steps < least && isReached(x + across * (steps + 1), y + down * (steps + 1))) steps += 1;
        return steps;
      };
      const [width, height] = [1 + reach(-1, 0) + reach(1, 0), 1 + reach(0, -1) + reach(0, 1)];
      if (width < least - 0.5 || height < least - 0.5) small.push(`${width}×${height} ${link.outerHTML.slice(0, 100)}`);
    }
    for (const one of document.querySelectorAll<HTMLElement>('button, select, summary, input:not([type=hidden]), textarea, a.button, [role=tab], nav a')) {
      if (!one.checkVisibility({ visibilityProperty: true }) || one.closest('[inert], .visually-hidden')) continue;
      const touched = one instanceof HTMLInputElement && /checkbox|radio|file/.test(one.type) ? (one.closest('label') ?? one) : one;
      const { width, height } = touched.getBoundingClientRect();
      if (width > 0 && (width < least - 0.5 || height < least - 0.5)) small.push(`${Math.round(width)}×${Math.round(height)} ${one.outerHTML.slice(0, 100)}`);
    }
    return small.length > 0 ? [`${small.length} targets are smaller than ${least} px: ${[...new Set(small)].slice(0, 3).join(' | ')}`] : [];
  }, FINGER);
}

/** Returns the violations of a page, or of what `within` selects, and those of its dark colours. */
export async function violations(page: Page, { dark = false, within = '' } = {}): Promise<string[]> {
  const protocol = await page.context().newCDPSession(page);
  // The policy of the pages lets no script in: the protocol of the browser is not bound by it.
  await protocol.send('Runtime.evaluate', { expression: AXE });
  const found = await run(page, within, []);
  if (dark) {
    await page.emulateMedia({ colorScheme: 'dark' });
    found.push(...(await run(page, within, COLOURS)).map((fault) => `in dark: ${fault}`));
    await page.emulateMedia({ colorScheme: 'light' });
  }
  await protocol.detach();
  return found;
}

interface Axe {
  run: (within: unknown, options: object) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}

function run(page: Page, within: string, rules: readonly string[]): Promise<string[]> {
  return page.evaluate(async ([place, only]) => {
    const { axe } = globalThis as unknown as { axe?: Axe };
    if (!axe) return ['axe did not start'];
    const options = { resultTypes: ['violations'], ...(only.length > 0 ? { runOnly: only } : {}) };
    const result = await axe.run(place === '' ? document : place, options);
    return result.violations.map(({ id, nodes }) => `axe ${id} (${nodes.length}): ${nodes[0]?.html.slice(0, 160)}`);
  }, [within, rules] as const);
}
