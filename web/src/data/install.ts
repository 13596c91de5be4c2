// The lines that install Link on a device. What is supported comes from the release that the backend publishes.

import { Unreachable } from './problem';
import type { System } from './system';
import type { Key } from './types';

/** Where the key of a line stands. */
export const HOWS = ['line', 'prompt', 'file'] as const;
export type How = (typeof HOWS)[number];

/** The name of the file with the key, in the home folder of the device. */
export const KEY_FILE = 'link-key.txt';

const TARGETS: Record<System, string> = { linux: '-linux-', macos: '-apple-darwin', windows: '-windows-' };

export interface Installer {
  /** Whether the installer knows the address of the backend by itself. */
  knowsBackend: boolean;
  /** Whether the backend has a release. */
  publishes: boolean;
  /** The targets of its archives; unknown if the release does not say. */
  targets: readonly string[] | null;
}

/** Asks the backend for its installer and its release. Both are public. */
export async function findInstaller(): Promise<Installer> {
  const [script, release] = await Promise.all([take('/install.sh'), take('/releases/manifest.json')]);
  return {
    knowsBackend: (script ?? '').includes('LINK_BACKEND_URL:='),
    publishes: release !== null,
    targets: release === null ? null : targetsOf(release),
  };
}

/** Tells whether a device with this system can be installed. Without a release, what Link is released for counts. */
export function supports({ targets }: Installer, system: System): boolean {
  if (targets === null) return system === 'linux';
  return targets.some((target) => target.includes(TARGETS[system]));
}

/** Returns the line; without a `key`, its place is marked. */
export function installLine(installer: Installer, kind: Key['kind'], how: How, key = '…', system: System = 'linux'): string {
  const variable = kind === 'fleet' ? 'LINK_FLEET_KEY' : 'LINK_REGISTRATION_KEY';
  return system === 'windows' ? powerShellLine(installer, variable, how, key) : shellLine(installer, variable, how, key);
}

function shellLine({ knowsBackend }: Installer, variable: string, how: How, key: string): string {
  const own = location.origin;
  const places = knowsBackend ? '' : `LINK_INSTALL_URL=${own}/releases LINK_BACKEND_URL=${own} `;
  const fetched = `curl -fsSL ${own}/install.sh`;
  switch (how) {
    case 'line':
      return `${fetched} | ${places}${variable}=${key} sh`;
    case 'file':
      return `${fetched} | ${places}${variable}_FILE=~/${KEY_FILE} sh`;
    case 'prompt':
      // In a shell of its own, which gives the terminal its echo back however the question ends.
      return (
        `(trap 'stty echo; exit 130' INT; stty -echo; printf 'Key: '; read -r ${variable}; stty echo; echo; ` +
        `export ${variable}; ${fetched} | ${places}sh)`
      );
  }
}

function powerShellLine({ knowsBackend }: Installer, variable: string, how: How, key: string): string {
  const own = location.origin;
  const places = knowsBackend ? '' : `$env:LINK_INSTALL_URL='${own}/releases'; $env:LINK_BACKEND_URL='${own}'; `;
  const fetched = `irm ${own}/install.ps1 | iex`;
  switch (how) {
    case 'line':
      return `${places}$env:${variable}='${key}'; ${fetched}`;
    case 'file':
      return `${places}$env:${variable}_FILE="$HOME\\${KEY_FILE}"; ${fetched}`;
    case 'prompt':
      // The installer takes the key out of the environment after it has been used.
      return `${places}$env:${variable}=(New-Object Net.NetworkCredential('', (Read-Host 'Key' -AsSecureString))).Password; ${fetched}`;
  }
}

async function take(path: string): Promise<string | null> {
  try {
    const response = await fetch(path, { cache: 'no-cache' });
    return response.ok ? await response.text() : null;
  } catch (cause) {
    throw new Unreachable(cause);
  }
}

function targetsOf(manifest: string): string[] | null {
  try {
    const { envelope } = JSON.parse(manifest) as { envelope?: unknown };
    const { archives } = JSON.parse(String(envelope)) as { archives?: unknown };
    if (!Array.isArray(archives)) return null;
    const ofDevices = archives.filter((archive: { package?: unknown }) => archive.package !== 'backend');
    return ofDevices.map((archive: { target?: unknown }) => String(archive.target));
  } catch {
    return null;
  }
}
