// Words from outside are shown as they are, in the room that there is.

import { expect, it } from 'vitest';

import { brief, sentence, visible } from '../src/text/visible';

it('shows what cannot be seen by a sign', () => {
  expect(visible('a\u0000b\u202ec\u200b\ud800')).toBe('a␣b␣c␣␣');
});

it('tells that a text was cut, and cuts no character in half', () => {
  expect(brief('abc', 3)).toBe('abc');
  expect(brief('abcd', 3)).toBe('ab…');
  expect(brief('ab😀de', 4)).toBe('ab…');
  expect(brief('ab😀de', 5)).toBe('ab😀…');
  expect(brief('ab\ud800de', 4)).toBe('ab␣…');
  expect(brief('x'.repeat(101))).toBe(`${'x'.repeat(99)}…`);
});

it('ends a sentence that was cut by its ellipsis alone', () => {
  expect(sentence('no space left')).toBe('No space left.');
  expect(sentence('x'.repeat(1_001)).endsWith('x…')).toBe(true);
});
