// The list of threats names tests of the pages. Each of them exists.

import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

it('every test of the pages that the list of threats names exists', () => {
  const lines = readFileSync('../docs/threats.md', 'utf8').split('\n').filter((line) => line.startsWith('Pages: '));
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    const [, path = '', list = ''] = /^Pages: `web\/([^`]+)`: (.+)$/.exec(line) ?? [];
    const names = [...list.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
    expect(names, line).not.toEqual([]);
    const source = readFileSync(path, 'utf8');
    for (const name of names) expect(source, line).toContain(`('${name}', `);
  }
});
