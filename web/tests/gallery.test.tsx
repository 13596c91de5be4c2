// The page of all parts: each state is there, and axe finds nothing in any of them.

import { readFileSync } from 'node:fs';

import { expect, it, vi } from 'vitest';

import { Gallery } from '../src/ui/gallery';
import { accessible, place, press, settled } from './placed';

vi.setConfig({ testTimeout: 30_000 });

const here = place();

it('has every part with its states, without a violation, also with what lies above the page', async () => {
  here.show(<Gallery />);
  await settled('Above the page');
  await accessible();
  for (const [button, words] of [['Open a dialog', 'What it is about.'], ['Open a question', 'What is lost with it.']] as const) {
    await press(button);
    await settled(words);
    await accessible();
    await press('Close');
    await vi.waitFor(() => expect(document.querySelector('dialog')).toBeNull());
  }
  await press('Show a notice');
  await press('Show a bad notice');
  await settled('It failed.');
  await accessible();
});

it('shows every part of the design: a new one has to be added', () => {
  const source = readFileSync('src/ui/gallery.tsx', 'utf8');
  const parts = ['parts', 'choice', 'dialog'].flatMap((file) => {
    const text = readFileSync(`src/ui/${file}.tsx`, 'utf8');
    return [...text.matchAll(/^export function ([A-Z]\w+)/gm)].map(([, name]) => name ?? '');
  });
  expect(parts.filter((part) => !new RegExp(`<${part}[\\s>]`).test(source))).toEqual([]);
});
