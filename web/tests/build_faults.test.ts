// The check of a build finds what is planted: a changed file, one that is missing, and packages that nobody decided on.

import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { differences, packageFaults, PACKAGES, shipped, type Lock } from '../build_faults';

let folder: string;
let first: string;
let second: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'link-builds-'));
  [first, second] = [join(folder, 'first'), join(folder, 'second')];
  mkdirSync(join(first, 'assets'), { recursive: true });
  writeFileSync(join(first, 'index.html'), '<!doctype html>');
  writeFileSync(join(first, 'assets', 'main.js'), 'start();');
  cpSync(first, second, { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

it('finds nothing in two builds with the same bytes', () => {
  expect(differences(first, second)).toEqual([]);
});

it('finds a file with other bytes, and one that only one of the builds has', () => {
  writeFileSync(join(second, 'assets', 'main.js'), 'start(1);');
  writeFileSync(join(first, 'only-first.css'), '');
  writeFileSync(join(second, 'only-second.css'), '');
  expect(differences(first, second).sort()).toEqual(
    ['assets/main.js', 'only-first.css', 'only-second.css'].map((name) => `\`${name}\` is not the same in two builds of the same sources`),
  );
});

it('does not take two empty builds for the same', () => {
  const empty = [join(folder, 'a'), join(folder, 'b')] as const;
  for (const one of empty) mkdirSync(one);
  expect(differences(...empty)).toHaveLength(1);
});

const lockOf = (count: number, dependencies: Record<string, string>): Lock => ({
  packages: {
    '': { dependencies },
    'node_modules/a-test-needs': { dev: true },
    ...Object.fromEntries(Array.from({ length: count }, (_, index) => [`node_modules/package-${index}`, {}])),
  },
});

it('counts what the pages need, and not what builds or tests them', () => {
  expect(shipped(lockOf(2, {}))).toEqual(['node_modules/package-0', 'node_modules/package-1']);
  expect(packageFaults(lockOf(PACKAGES, {}), '')).toEqual([]);
  expect(packageFaults(lockOf(PACKAGES + 1, {}), '')).toEqual([`${PACKAGES + 1} packages are needed at run time; at most ${PACKAGES} are allowed`]);
});

it('wants a decision for each package that the pages name', () => {
  const lock = lockOf(2, { 'package-0': '1.0.0', 'package-1': '1.0.0' });
  expect(packageFaults(lock, 'We take `package-0` and `package-1`.')).toEqual([]);
  expect(packageFaults(lock, 'We take `package-0`, and package-10.')).toEqual(['no decision says why the pages need the package `package-1`']);
});
