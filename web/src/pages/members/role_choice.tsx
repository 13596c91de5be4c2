// The roles that somebody may give, each with what it allows.

import { ROLES } from '../../data/allowed';
import type { Role } from '../../data/types';
import { text } from '../../text';

/** Only an owner makes owners. */
export function RoleChoice({ caller, chosen, choose }: { caller: Role; chosen: Role; choose: (role: Role) => void }) {
  return (
    <fieldset class="radio-set">
      <legend>{text.members.role}</legend>
      {ROLES.filter((role) => role !== 'owner' || caller === 'owner').map((role) => (
        <label key={role}>
          <input type="radio" name="role" value={role} checked={role === chosen} onChange={() => choose(role)} />
          <span>
            {text.shell.role[role]}
            <span class="hint"> – {text.members.roleMeans[role]}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
