// The page of all parts: each state is there, and axe finds nothing in any of them.

import { readdirSync, readFileSync } from 'node:fs';

import { expect, it, vi } from 'vitest';

import { Gallery } from '../src/ui/gallery/page';
import { accessible, place, press, settled } from './placed';

vi.setConfig({ testTimeout: 30_000 });

const here = place();

it('has every part with its states, without a violation, also with what lies above the page', async () => {
  here.show(<Gallery />);
  await settled('Above the page');
  await accessible();
  const dialogs = [['Open a dialog', 'What it is about.'], ['Open a question', 'What is lost with it.'], ['Remove…', 'Remove for ever']] as const;
  for (const [button, words] of dialogs) {
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

/** Parts that show lists of the account or let somebody in: the tests of the pages have their states. */
const OF_PAGES = ['DeployDialog', 'DeviceChoice', 'DevicePicker', 'EntryField', 'EntryForm', 'ManyDialog', 'PlainHttp', 'Progress', 'Refusal', 'SearchAndFilters', 'SelectionChips', 'SelectionMenu', 'SettingsFields', 'VersionField'];

it('shows every part of the design: a new one has to be added', () => {
  const sources = readdirSync('src/ui/gallery').map((file) => readFileSync(`src/ui/gallery/${file}`, 'utf8')).join('');
  const files = readdirSync('src/ui').filter((file) => file.endsWith('.tsx'));
  const parts = files.flatMap((file) => {
    const text = readFileSync(`src/ui/${file}`, 'utf8');
    return [...text.matchAll(/^export function ([A-Z]\w+)/gm)].map(([, name]) => name ?? '');
  });
  // A chart is always shown with its numbers, and read where it is drawn.
  const missing = parts.filter((part) => part !== 'Chart' && part !== 'Readout' && !new RegExp(`<${part}[\\s>]`).test(sources));
  expect(missing.sort()).toEqual(OF_PAGES);
});
