// The pages of administrators. Each is offered only to roles with its permission.

import { allowed } from '../data/allowed';
import type { Permission, Role } from '../data/types';
import { text } from '../text';
import type { IconName } from '../ui/icon';

interface AdminPage {
  href: string;
  name: string;
  icon: IconName;
  needs: Permission;
}

const PAGES: readonly AdminPage[] = [
  { href: '/usage', name: text.admin.usage, icon: 'chart', needs: 'usage:read' },
  { href: '/keys', name: text.admin.keys, icon: 'key', needs: 'keys:read' },
  { href: '/members', name: text.admin.members, icon: 'people', needs: 'members:read' },
  { href: '/tokens', name: text.admin.tokens, icon: 'ticket', needs: 'account:read' },
  { href: '/audit', name: text.admin.audit, icon: 'trail', needs: 'audit:read' },
  { href: '/settings', name: text.admin.settings, icon: 'gear', needs: 'settings:read' },
];

/** Returns the pages that a role may read. */
export function administration(role: Role | undefined): AdminPage[] {
  return role ? PAGES.filter(({ needs }) => allowed(role, needs)) : [];
}
