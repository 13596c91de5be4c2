// The list of threats names tests of the pages. Each of them exists.

import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

it.each([
  ['Pages', (name: string) => `('${name}', `],
  ['Chromium', (name: string) => name],
])('every test that the list of threats names exists: %s', (kind, stands) => {
  const lines = readFileSync('../docs/threats.md', 'utf8').split('\n').filter((line) => line.startsWith(`${kind}: `));
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    const [, path = '', list = ''] = /^\w+: `web\/([^`]+)`: (.+)$/.exec(line) ?? [];
    const names = [...list.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '');
    expect(names, line).not.toEqual([]);
    const source = readFileSync(path, 'utf8');
    for (const name of names) expect(source, line).toContain(stands(name));
  }
});
