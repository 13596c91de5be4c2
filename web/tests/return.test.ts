// What a page does when somebody comes back to it: from another tab, another window, or another program.

import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { onReturn } from '../src/data/visible';

let state: DocumentVisibilityState;
let end: () => void;
const work = vi.fn();

beforeEach(() => {
  state = 'visible';
  work.mockClear();
  vi.spyOn(document, 'visibilityState', 'get').mockImplementation(() => state);
});
afterEach(() => {
  end();
  vi.restoreAllMocks();
});

function becomes(next: DocumentVisibilityState): void {
  state = next;
  document.dispatchEvent(new Event('visibilitychange'));
}
const turnsTo = (what: 'blur' | 'focus'): boolean => dispatchEvent(new Event(what));

it('works once for each return, from whatever was in front', () => {
  end = onReturn(work);
  turnsTo('focus');
  becomes('visible');
  expect(work).toHaveBeenCalledTimes(0);
  becomes('hidden');
  becomes('visible');
  expect(work).toHaveBeenCalledTimes(1);
  // A browser says both when a tab that was behind another one is chosen again.
  turnsTo('blur');
  becomes('hidden');
  becomes('visible');
  turnsTo('focus');
  expect(work).toHaveBeenCalledTimes(2);
});

it('waits until a page that is focused is also in sight, and begins behind another tab', () => {
  state = 'hidden';
  end = onReturn(work);
  turnsTo('focus');
  expect(work).toHaveBeenCalledTimes(0);
  becomes('visible');
  expect(work).toHaveBeenCalledTimes(1);
});

it('ends when its page is left', () => {
  end = onReturn(work);
  end();
  becomes('hidden');
  becomes('visible');
  expect(work).toHaveBeenCalledTimes(0);
});
