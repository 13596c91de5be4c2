// A field that finds one of many things: by keyboard, by pointer, and left as it was.

import { signal } from '@preact/signals';
import { render } from 'preact';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { unsent } from '../src/app/newer';
import { Combobox, type Choosable } from '../src/ui/combobox';
import { accessible } from './placed';

const ALL: Choosable[] = Array.from({ length: 60 }, (_, at) => ({ id: `${at}`, words: `model-${at} on ward`, found: `model-${at} ward alias${at % 2}` }));
const chosen = signal('55');
const disabled = signal(false);
let root: HTMLElement;
const field = (): HTMLInputElement => root.querySelector('input') as HTMLInputElement;
const options = (): string[] => [...root.querySelectorAll('[role=option]')].map((one) => one.textContent ?? '');
const marked = (): string | null | undefined => root.querySelector('[aria-selected=true]')?.textContent;
const key = (name: string): boolean => field().dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
const type = (words: string): void => {
  field().value = words;
  field().dispatchEvent(new Event('input', { bubbles: true }));
};

function Shown() {
  const one = ALL.find(({ id }) => id === chosen.value) ?? { id: chosen.value, words: 'gone', found: 'gone' };
  return (
    <>
      <label for="one">Model</label>
      <Combobox id="one" label="Model" chosen={one} options={ALL} disabled={disabled.value} choose={(id) => (chosen.value = id)} />
    </>
  );
}

beforeEach(() => {
  document.body.innerHTML = '<main id="root"></main>';
  root = document.getElementById('root') as HTMLElement;
  [chosen.value, disabled.value] = ['55', false];
  render(<Shown />, root);
});
afterEach(() => {
  render(null, root);
});

it('has the name of what is chosen, and lists what is chosen first although it is far down', async () => {
  expect(field().value).toBe('model-55 on ward');
  expect(field().getAttribute('aria-expanded')).toBe('false');
  // A chevron, like every select: an arrow with a shaft is the sign of an order.
  expect(root.querySelector('.combobox > .icon path')?.getAttribute('d')).toBe('M4 6l4 4 4-4');
  await accessible();
  field().click();
  await vi.waitFor(() => expect(options()).toHaveLength(51));
  expect(marked()).toBe('model-55 on ward');
  expect(options().slice(0, 2)).toEqual(['model-55 on ward', 'model-0 on ward']);
  expect(root.querySelector('.combobox-panel > p')?.textContent).toMatch(/^9 more/);
  await accessible();
  key('ArrowDown');
  await vi.waitFor(() => expect(marked()).toBe('model-0 on ward'));
});

it('has what is chosen although it is none of the options, and counts the others', async () => {
  chosen.value = 'gone';
  await vi.waitFor(() => expect(field().value).toBe('gone'));
  field().click();
  await vi.waitFor(() => expect(options()).toHaveLength(51));
  expect(marked()).toBe('gone');
  expect(root.querySelector('.combobox-panel > p')?.textContent).toMatch(/^10 more/);
});

it('takes what is marked with the arrow keys, and every word that is typed counts', async () => {
  field().focus();
  type('Alias1 model-5');
  await vi.waitFor(() => expect(options()).toEqual([5, 51, 53, 55, 57, 59].map((at) => `model-${at} on ward`)));
  expect(marked()).toBe('model-5 on ward');
  key('ArrowDown');
  await vi.waitFor(() => expect(marked()).toBe('model-51 on ward'));
  expect(field().getAttribute('aria-activedescendant')).toBe('one-1');
  key('ArrowUp');
  await vi.waitFor(() => expect(marked()).toBe('model-5 on ward'));
  key('ArrowUp');
  await vi.waitFor(() => expect(marked()).toBe('model-59 on ward'));
  key('Enter');
  await vi.waitFor(() => expect(field().value).toBe('model-59 on ward'));
  expect(chosen.value).toBe('59');
  expect(options()).toEqual([]);
});

it('stays as it was after Escape, and when the focus goes elsewhere', async () => {
  for (const leave of [() => void key('Escape'), () => field().blur()]) {
    field().focus();
    type('model-1');
    await vi.waitFor(() => expect(options().length).toBe(11));
    leave();
    await vi.waitFor(() => expect(options()).toEqual([]));
    expect(field().value).toBe('model-55 on ward');
  }
  expect(chosen.value).toBe('55');
});

it('says that nothing fits, and takes nothing then', async () => {
  type('whisper');
  await vi.waitFor(() => expect(root.querySelector('[role=status]')?.textContent).toBe('0 results'));
  await accessible();
  key('Enter');
  await vi.waitFor(() => expect(field().value).toBe('model-55 on ward'));
});

it('takes what is pressed, and a press leaves the focus in the field', async () => {
  field().focus();
  key('ArrowDown');
  await vi.waitFor(() => expect(options().length).toBe(51));
  const third = root.querySelectorAll<HTMLElement>('[role=option]')[2];
  expect(third?.dispatchEvent(new MouseEvent('mousedown', { bubbles: true, cancelable: true }))).toBe(false);
  third?.click();
  await vi.waitFor(() => expect(field().value).toBe('model-1 on ward'));
});

it('is nothing that a reload would lose', async () => {
  type('model-1');
  await vi.waitFor(() => expect(options().length).toBe(11));
  expect(unsent()).toBeNull();
});

it('does not open while nothing may be chosen', async () => {
  disabled.value = true;
  await vi.waitFor(() => expect(field().disabled).toBe(true));
  field().click();
  expect(options()).toEqual([]);
});
