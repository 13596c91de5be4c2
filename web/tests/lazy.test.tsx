// A part of a page whose code comes when it is shown, and one whose code is gone.

import type { ComponentType } from 'preact';
import { expect, it, vi } from 'vitest';

import { lazy } from '../src/ui/lazy';
import { accessible, place, settled } from './placed';

const here = place();
const Shown = ({ words }: { words: string }) => <p>{words}</p>;

it('is shown once its code has come, with what it is about', async () => {
  const Lazy = lazy(async () => Shown);
  here.show(<Lazy words="It is there" />);
  expect(here.root.querySelector('.skeleton')).not.toBeNull();
  await settled('It is there');
  here.show(<Lazy words="Something else" />);
  await settled('Something else');
});

it('says that its code is gone, and offers to load the page anew', async () => {
  const Lazy = lazy<{ words: string }>(() => Promise.reject(new TypeError('Failed to fetch dynamically imported module')));
  here.show(<main><h1>Page</h1><Lazy words="It is there" /></main>);
  await settled('A part of the page could not be loaded');
  await accessible();
});

it('has the focus of what stood in its place', async () => {
  let come = (_: ComponentType) => {};
  const code = new Promise<ComponentType>((resolve) => (come = resolve));
  const Lazy = lazy(() => code, () => <select id="model" />);
  here.show(<Lazy />);
  here.root.querySelector('select')?.focus();
  come(() => <input id="model" />);
  await vi.waitFor(() => expect(document.activeElement).toBe(here.root.querySelector('input')));
});
