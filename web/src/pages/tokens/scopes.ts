// The scopes that a token may have, in groups by what they are about. Pure.

import { allowed } from '../../data/allowed';
import type { Permission, Role } from '../../data/types';

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

export interface Group {
  about: string;
  scopes: Permission[];
}

/** Returns the scopes that a role has, in groups. */
export function scopesOf(role: Role): Group[] {
  const groups: Group[] = [];
  for (const scope of SCOPES.filter((one) => allowed(role, one))) {
    const about = scope.split(':')[0] ?? scope;
    const known = groups.find((group) => group.about === about);
    if (known) known.scopes.push(scope);
    else groups.push({ about, scopes: [scope] });
  }
  return groups;
}

export function isRead(scope: Permission): boolean {
  return scope.endsWith(':read');
}
