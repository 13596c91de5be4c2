// What is wrong with a build of the pages, from what is on the disk. `check_build.ts` builds and asks.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The most packages that the pages need at run time, those that their packages need included. */
export const PACKAGES = 60;

/** A `package-lock.json`. */
export interface Lock {
  packages: Record<string, { dev?: boolean; dependencies?: Record<string, string> }>;
}

/** Returns each file that is not the same in two builds, which are folders. */
export function differences(first: string, second: string): string[] {
  const names = new Set([...filesIn(first), ...filesIn(second)]);
  if (names.size === 0) return [`\`${first}\` has no file: run the build first`];
  return [...names].flatMap((name) => {
    const [one, other] = [contentOf(join(first, name)), contentOf(join(second, name))];
    return one && other && one.equals(other) ? [] : [`\`${name}\` is not the same in two builds of the same sources`];
  });
}

/** Returns the paths of the packages that the pages need at run time. */
export function shipped({ packages }: Lock): string[] {
  return Object.entries(packages).flatMap(([path, { dev }]) => (path === '' || dev ? [] : [path]));
}

/** Returns which of the packages at run time are too many, or named in none of the `decisions`. */
export function packageFaults(lock: Lock, decisions: string): string[] {
  const { length } = shipped(lock);
  const many = length > PACKAGES ? [`${length} packages are needed at run time; at most ${PACKAGES} are allowed`] : [];
  const wanted = Object.keys(lock.packages['']?.dependencies ?? {});
  const unnamed = wanted.filter((name) => !decisions.includes(`\`${name}\``));
  return [...many, ...unnamed.map((name) => `no decision says why the pages need the package \`${name}\``)];
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

function contentOf(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}
