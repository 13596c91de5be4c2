// An answer is drawn in parts that are short tasks, whatever was missed.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { Drawing } from '../src/pages/workspace/drawing';
import { markup } from '../src/workspace/markdown';

/** The most characters of the text below that may come with one drawing. */
const MOST = 2_100;
const PARAGRAPH = `${'word '.repeat(40).trim()} 😀\n\n`;

let root: HTMLElement;
let lengths: number[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'requestAnimationFrame', 'cancelAnimationFrame', 'performance'] });
  root = document.createElement('div');
  lengths = [0];
});
afterEach(() => void vi.useRealTimers());

const begun = (): Drawing => new Drawing(root, () => lengths.push(root.textContent.length));
const growths = (): number[] => lengths.slice(1).map((length, at) => length - (lengths[at] ?? 0));

test('what a hidden tab has missed is drawn a part at a time, and nothing of it is lost', () => {
  const drawing = begun();
  drawing.push('The begin.\n\n');
  vi.advanceTimersByTime(1_000);
  drawing.push(PARAGRAPH.repeat(60));
  vi.advanceTimersByTime(300);
  const drawn = lengths.at(-1) ?? 0;
  expect(drawn).toBeGreaterThan(0);
  expect(drawn).toBeLessThan(PARAGRAPH.length * 60);
  drawing.finish();
  vi.runAllTimers();
  expect(Math.max(...growths())).toBeLessThan(MOST);
  const blocks = [...root.querySelectorAll('.block')].map(({ innerHTML }) => innerHTML.trim());
  expect(blocks).toEqual(markup(`The begin.\n\n${PARAGRAPH.repeat(60)}`).trim().split('\n'));
});

test('no sign of two code units is cut', () => {
  const drawing = begun();
  drawing.push('x');
  vi.advanceTimersByTime(50);
  drawing.push('😀'.repeat(3_000));
  drawing.finish();
  vi.runAllTimers();
  expect(root.textContent.trim()).toBe(`x${'😀'.repeat(3_000)}`);
});

test('a text of which nothing was drawn is there at once', () => {
  const drawing = begun();
  drawing.push(PARAGRAPH.repeat(60));
  drawing.finish();
  expect(root.querySelectorAll('.block')).toHaveLength(60);
});

test('a drawing that is given up draws nothing more', () => {
  const drawing = begun();
  drawing.push('x');
  vi.advanceTimersByTime(50);
  drawing.push(PARAGRAPH.repeat(60));
  drawing.finish();
  drawing.stop();
  const drawn = root.textContent;
  vi.runAllTimers();
  expect(root.textContent).toBe(drawn);
});
