// The scopes that a token may have, in groups by what they are about, and their words. Pure.

import { allowed } from '../../data/allowed';
import type { Permission, Role } from '../../data/types';
import { text } from '../../text';

/** Every permission that can be a scope; `account:read` is always included. */
const SCOPES: readonly Permission[] = [
  'devices:read', 'devices:operate', 'devices:write',
  'models:read', 'models:write',
  'deployments:read', 'deployments:write',
  'serving:operate',
  'commands:read',
  'keys:read', 'keys:write',
  'members:read', 'members:write',
  'usage:read',
  'settings:read', 'settings:write',
  'audit:read',
];

export interface Group<S> {
  about: string;
  scopes: S[];
}

/** Returns the scopes that a role has, in groups. */
export function scopesOf(role: Role): Group<Permission>[] {
  return groupsOf(SCOPES.filter((one) => allowed(role, one)));
}

/** Returns scopes in groups by what they are about. */
export function groupsOf<S extends string>(scopes: readonly S[]): Group<S>[] {
  const groups: Group<S>[] = [];
  for (const scope of scopes) {
    const [about] = partsOf(scope);
    const known = groups.find((group) => group.about === about);
    if (known) known.scopes.push(scope);
    else groups.push({ about, scopes: [scope] });
  }
  return groups;
}

/** Returns what a scope is about and what it permits, as `devices` and `read`. */
export function partsOf(scope: string): [about: string, permits: string] {
  const [about = scope, permits = ''] = scope.split(':');
  return [about, permits];
}

/** Returns what a group is about, in words. A newer backend has scopes without words here. */
export function aboutWords(about: string): string {
  return text.tokens.about[about] ?? about;
}

/** Returns what a scope permits, in words. */
export function permitsWords(scope: string): string {
  const [, permits] = partsOf(scope);
  return text.tokens.permits[permits] ?? permits;
}

export function isRead(scope: Permission): boolean {
  return scope.endsWith(':read');
}
