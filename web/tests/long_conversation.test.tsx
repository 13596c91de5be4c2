// Of a long conversation, only the turns in sight are in the document; of a short one, all are.

import { expect, it, vi } from 'vitest';

import { Chat } from '../src/pages/workspace/chat';
import { conversation } from '../src/pages/workspace/state';
import { fresh, type Turn } from '../src/workspace/conversations';
import { place } from './placed';

const here = place();

// Nothing has a size in jsdom, and of what has none nothing is in sight.
Object.defineProperty(HTMLElement.prototype, 'offsetHeight', { configurable: true, get: () => 900 });

const turn = (at: number): Turn => ({
  id: `turn_${at}`, question: `Question ${at}.`, answer: `Answer ${at}.`, thought: '', figures: null, model: 'm', state: 'complete',
});
const shown = (): string[] => [...here.root.querySelectorAll<HTMLElement>('.exchange')].map((one) => one.dataset['index'] ?? '');

function talk(turns: number): void {
  conversation.value = { ...fresh(1), id: `c${turns}`, turns: Array.from({ length: turns }, (_, at) => turn(at)) };
  here.show(<Chat />);
}

it('draws every turn of a short conversation', async () => {
  talk(40);
  await vi.waitFor(() => expect(shown()).toHaveLength(40));
  expect(here.root.querySelector('.skipped')).toBeNull();
});

it('draws the last turns of a long conversation, and the first ones when the log is scrolled there', async () => {
  talk(500);
  await vi.waitFor(() => expect(shown()).toContain('499'));
  expect(shown().length).toBeLessThan(40);
  expect(shown()).not.toContain('0');
  const log = here.root.querySelector('#log') as HTMLElement;
  log.scrollTop = 0;
  log.dispatchEvent(new Event('scroll'));
  await vi.waitFor(() => expect(shown()).toContain('0'));
  expect(shown().length).toBeLessThan(40);
  // The last one is where the next answer grows.
  expect(shown()).toContain('499');
  expect(here.root.textContent).toContain('Answer 0.');
});
