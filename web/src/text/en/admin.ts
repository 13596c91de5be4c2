// Words that the pages of administrators share.

import { plural } from './plural';

export const admin = {
  group: 'Administration',
  add: 'Add a device',
  keys: 'Keys',
  members: 'Members',
  tokens: 'API tokens',
  audit: 'Audit',
  usage: 'Usage',
  settings: 'Settings',
  copy: (label: string) => `Copy ${label.charAt(0).toLowerCase()}${label.slice(1)}`,
  copied: 'Copied.',
  selected: 'Selected: press Ctrl+C.',
  once: 'Copy it now. It is not shown again.',
  done: 'Done',
  noEnd: 'never',
  ended: 'expired',
  showMore: (count: number) => `Show more (${count.toLocaleString('en')} left)`,
  refusedTitle: 'Your role does not allow this',
  refused: (role: string) => `This page needs the role ${role} or a higher one. An owner or an admin of the account can change your role.`,
  tagsHint: 'Several tags are separated by commas.',
  days: (count: number) => plural(count, 'day', 'days'),
  hours: (count: number) => plural(count, 'hour', 'hours'),
  of: (count: number, most: number) => `${count.toLocaleString('en')} of ${most.toLocaleString('en')}`,
  unlimited: (count: number) => `${count.toLocaleString('en')}, no limit`,
  you: 'you',
  unknown: 'unknown',
} as const;
