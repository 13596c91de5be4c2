// The lines that install Link on a device, as the backend tells them, and those that keep the key out of the line.

import { ask, GET } from './client';
import type { System } from './system';
import type { InstallInfo, Key } from './types';

/** Where the key of a line stands. */
export const HOWS = ['line', 'prompt', 'file'] as const;
export type How = (typeof HOWS)[number];

/** The name of the file with the key, in the home folder of the device. */
export const KEY_FILE = 'link-key.txt';

export type Installer = InstallInfo;

/** Asks the backend for its lines and its release. */
export function findInstaller(): Promise<Installer> {
  return ask(GET('/api/v1/install'));
}

/** Tells whether the backend has a release. */
export function publishes({ release }: Installer): boolean {
  return release != null;
}

/** Tells whether a device with this system can be installed. Without a release, none can, and that is said for all at once. */
export function supports({ systems }: Installer, system: System): boolean {
  return systems.some((one) => one.system === system && one.released !== false);
}

/** Returns the line; without a `key`, its place is marked. */
export function installLine(installer: Installer, kind: Key['kind'], how: How, key = '…', system: System = 'linux'): string {
  const variable = kind === 'fleet' ? 'LINK_FLEET_KEY' : 'LINK_REGISTRATION_KEY';
  if (how !== 'line') return system === 'windows' ? powerShellLine(installer, variable, how) : shellLine(installer, variable, how);
  const lines = installer.systems.find((one) => one.system === system);
  const line = (kind === 'fleet' ? lines?.fleet_line : lines?.registration_line) ?? '';
  return line.replaceAll('{backend}', () => location.origin).replaceAll('{key}', () => key);
}

function shellLine({ backend_url: known }: Installer, variable: string, how: 'prompt' | 'file'): string {
  const base = known ?? location.origin;
  const places = known ? '' : `LINK_INSTALL_URL=${base}/releases LINK_BACKEND_URL=${base} `;
  const fetched = `curl -fsSL ${base}/install.sh`;
  if (how === 'file') return `${fetched} | ${places}${variable}_FILE=~/${KEY_FILE} sh`;
  // In a shell of its own, which gives the terminal its echo back however the question ends.
  return (
    `(trap 'stty echo; exit 130' INT; stty -echo; printf 'Key: '; read -r ${variable}; stty echo; echo; ` +
    `export ${variable}; ${fetched} | ${places}sh)`
  );
}

function powerShellLine({ backend_url: known }: Installer, variable: string, how: 'prompt' | 'file'): string {
  const base = known ?? location.origin;
  const places = known ? '' : `$env:LINK_INSTALL_URL='${base}/releases'; $env:LINK_BACKEND_URL='${base}'; `;
  const fetched = `irm ${base}/install.ps1 | iex`;
  if (how === 'file') return `${places}$env:${variable}_FILE="$HOME\\${KEY_FILE}"; ${fetched}`;
  // The installer takes the key out of the environment after it has been used.
  return `${places}$env:${variable}=(New-Object Net.NetworkCredential('', (Read-Host 'Key' -AsSecureString))).Password; ${fetched}`;
}
