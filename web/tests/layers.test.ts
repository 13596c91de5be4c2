// The layers of the sources: each imports itself and what is below it, so that a part can be read without what uses it.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

import { expect, it } from 'vitest';

const ROOT = 'src';
/** What each layer may import besides itself, the lowest layer first. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  text: [],
  data: ['text'],
  ui: ['text', 'data'],
  workspace: ['text', 'data'],
  pages: ['text', 'data', 'ui', 'workspace'],
  app: ['text', 'data', 'ui', 'pages'],
};
const IMPORT = /(?:from|import\(|import) ?'(\.{1,2}\/[^']+)'/g;

interface Import {
  file: string;
  imported: string;
}

function importsOf(file: string): Import[] {
  const source = readFileSync(file, 'utf8');
  return [...source.matchAll(IMPORT)].map(([, path = '']) => ({ file, imported: join(dirname(file), path) }));
}

const layerOf = (path: string): string => relative(ROOT, path).split('/')[0] ?? '';

const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => join(ROOT, name));
const imports = files.flatMap(importsOf);

it('reads every layer and the imports between them', () => {
  expect(new Set(files.map(layerOf))).toEqual(new Set(Object.keys(LAYERS)));
  expect(imports.length).toBeGreaterThan(files.length);
});

it('imports nothing from a layer above', () => {
  const upward = imports.filter(({ file, imported }) => {
    const [from, to] = [layerOf(file), layerOf(imported)];
    return from !== to && !LAYERS[from]?.includes(to);
  });
  expect(upward).toEqual([]);
});
