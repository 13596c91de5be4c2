// What a role may do, as the backend's table of roles and permissions has it: controls that would be refused are not shown.

import type { Me, Permission } from './types';

type Role = Me['role'];

/** The roles, the one with the fewest permissions first. */
export const ROLES: readonly Role[] = ['viewer', 'operator', 'admin', 'owner'];

/** The lowest role with a permission; a viewer has those that are not named. */
const LEAST: Partial<Record<Permission, Role>> = {
  'keys:read': 'operator',
  'devices:operate': 'operator',
  'models:write': 'operator',
  'deployments:write': 'operator',
  'serving:operate': 'operator',
  'members:write': 'admin',
  'keys:write': 'admin',
  'devices:write': 'admin',
  'settings:write': 'admin',
  'audit:read': 'admin',
};

/** Tells whether a role has a permission. */
export function allowed(role: Role, permission: Permission): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(LEAST[permission] ?? 'viewer');
}

/** Returns the kinds of events, besides those that everybody may read, that a role may. */
export function kindsOf(role: Role): readonly string[] {
  return allowed(role, 'keys:read') ? ['member', 'key'] : ['member'];
}
