// A page that the role of the caller does not allow.

import type { Role } from '../data/types';
import { text } from '../text';
import { Empty } from './parts';

export function Refused({ role }: { role: Role }) {
  return (
    <Empty icon="warning" title={text.admin.refusedTitle}>
      <p>{text.admin.refused(text.shell.role[role])}</p>
    </Empty>
  );
}
