// The lists that `pictures/` goes through by hand are whole: every source with a dialog is opened by keyboard, and every cause of a
// failure has its picture.

import { expect, it } from 'vitest';

import { CAUSES } from '../pictures/causes';
import { DIALOGS } from '../pictures/dialogs';

const sources = import.meta.glob<string>('../src/**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true });

it('names every source that has a dialog', () => {
  const having = Object.entries(sources).filter(([, words]) => /<(Dialog|Confirm)\b/.test(words)).map(([path]) => path.slice('../src/'.length, -'.tsx'.length));
  expect([...new Set(DIALOGS.map(({ of }) => of))].toSorted()).toEqual(having.filter((path) => path !== 'ui/dialog' && !path.startsWith('ui/gallery/')).toSorted());
});

it('plays every cause that the workspace can name', () => {
  const named = [...(sources['../src/workspace/causes.ts'] ?? '').matchAll(/cause\('([\w-]+)'/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(15);
  expect(new Set(CAUSES.map(({ cause }) => cause))).toEqual(new Set(named));
});
