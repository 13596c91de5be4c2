// A part of a page whose code comes when it is shown, and one whose code is gone.

import { expect, it } from 'vitest';

import { later } from '../src/ui/later';
import { accessible, place, settled } from './placed';

const here = place();
const Shown = ({ words }: { words: string }) => <p>{words}</p>;

it('is shown once its code has come, with what it is about', async () => {
  const Later = later(async () => Shown);
  here.show(<Later words="It is there" />);
  expect(here.root.querySelector('.skeleton')).not.toBeNull();
  await settled('It is there');
  here.show(<Later words="Something else" />);
  await settled('Something else');
});

it('says that its code is gone, and offers to load the page anew', async () => {
  const Later = later<{ words: string }>(() => Promise.reject(new TypeError('Failed to fetch dynamically imported module')));
  here.show(<main><h1>Page</h1><Later words="It is there" /></main>);
  await settled('A part of the page could not be loaded');
  await accessible();
});
