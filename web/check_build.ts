// Checks what `vite build` has left in dist/app: a second build has the same bytes, takes at most ten seconds of processor time,
// and what the pages need at run time is at most sixty packages, each of which the decision record names.
//   node check_build.ts

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { build } from 'vite';

import { differences, packageFaults, PACKAGES, shipped, type Lock } from './build_faults.ts';

/** The most processor time of a build, in seconds. */
const SECONDS = 10;
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

function packages(): string[] {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
  process.stdout.write(`web: ${shipped(lock).length} packages at run time, of ${PACKAGES}\n`);
  return packageFaults(lock, readdirSync(DECISIONS).map((name) => readFileSync(join(DECISIONS, name), 'utf8')).join(''));
}
