// Checks what `vite build` has left in dist/app: a second build has the same bytes, takes at most ten seconds of processor time,
// and what the pages need at run time is at most sixty packages, each of which the decision record names.
//   node check_build.ts

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { build } from 'vite';

/** The most processor time of a build, in seconds. */
const SECONDS = 10;
/** The most packages that the pages need at run time, those that their packages need included. */
const PACKAGES = 60;
const BUILT = 'dist/app';
const DECISIONS = '../docs/decisions';

const faults = [...(await secondBuild()), ...packages()];
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;

/** Builds once more, into a folder of its own, and returns what differs from the first build. */
async function secondBuild(): Promise<string[]> {
  const again = mkdtempSync(join(tmpdir(), 'link-web-'));
  try {
    const before = process.cpuUsage();
    await build({ logLevel: 'warn', build: { outDir: again } });
    const { user, system } = process.cpuUsage(before);
    const seconds = (user + system) / 1e6;
    process.stdout.write(`web: built again in ${seconds.toFixed(1)} s of processor time, of ${SECONDS}\n`);
    const slow = seconds > SECONDS ? [`the build took ${seconds.toFixed(1)} s of processor time; at most ${SECONDS} are allowed`] : [];
    return [...slow, ...differences(BUILT, again)];
  } finally {
    rmSync(again, { recursive: true });
  }
}

function differences(first: string, second: string): string[] {
  const names = new Set([...filesIn(first), ...filesIn(second)]);
  if (names.size === 0) return [`\`${first}\` has no file: run the build first`];
  return [...names].flatMap((name) => {
    const [one, other] = [contentOf(join(first, name)), contentOf(join(second, name))];
    return one && other && one.equals(other) ? [] : [`\`${name}\` is not the same in two builds of the same sources`];
  });
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

interface Lock {
  packages: Record<string, { dev?: boolean; dependencies?: Record<string, string> }>;
}

/** Returns which of the packages at run time are too many, or named in no decision. */
function packages(): string[] {
  const { packages: locked } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
  const shipped = Object.entries(locked).filter(([path, { dev }]) => path !== '' && !dev);
  process.stdout.write(`web: ${shipped.length} packages at run time, of ${PACKAGES}\n`);
  const many = shipped.length > PACKAGES ? [`${shipped.length} packages are needed at run time; at most ${PACKAGES} are allowed`] : [];
  const decided = readdirSync(DECISIONS).map((name) => readFileSync(join(DECISIONS, name), 'utf8')).join('');
  const wanted = Object.keys(locked['']?.dependencies ?? {});
  const unnamed = wanted.filter((name) => !decided.includes(`\`${name}\``));
  return [...many, ...unnamed.map((name) => `no decision says why the pages need the package \`${name}\``)];
}
