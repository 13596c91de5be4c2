// The change of a role. A change by somebody else in the meantime is said and not overwritten.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { changeRole, currentMember, members } from '../../data/account';
import type { Me, Member, Role } from '../../data/types';
import { text } from '../../text';
import { useAttempt } from '../../ui/busy';
import { Dialog } from '../../ui/dialog';
import { FormError } from '../../ui/form_error';
import { notice } from '../../ui/notices';
import { Foreign } from '../../ui/parts';
import { RoleChoice } from './role_choice';

/** `asked` is the member as the dialog was opened. */
export function RoleDialog({ asked, caller, close }: { asked: Member; caller: Me; close: () => void }) {
  const { busy, fault, run } = useAttempt();
  const chosen = useSignal<Role>(asked.role);
  /** The role that the choice was made from. */
  const base = useSignal<Role>(asked.role);
  const known = (members.rows.revision.value, members.rows.row(asked.user_id)?.value);
  const told = useSignal('');
  const tell = (role: Role): void => {
    told.value = text.members.other(text.shell.role[role]);
    base.value = role;
    chosen.value = role;
  };
  useEffect(() => {
    if (known && known.role !== base.peek() && !busy.peek()) tell(known.role);
  }, [known?.role]);
  const gone = known === undefined && members.loading.value.state === 'ready';
  const sent = async (event: Event): Promise<void> => {
    event.preventDefault();
    let done = false;
    await run(async () => {
      const wanted = chosen.peek();
      const current = await currentMember(asked.user_id);
      if (!current) return;
      if (current.role !== base.peek()) {
        tell(current.role);
        return;
      }
      await changeRole(asked.user_id, wanted);
      done = true;
      notice(text.members.changed(asked.email, text.shell.role[wanted]));
    });
    if (done) close();
  };
  return (
    <Dialog title={text.members.changeTitle} close={close} wide>
      <form onSubmit={(event) => void sent(event)}>
        <div class="dialog-body">
          <p>
            <Foreign>{asked.email}</Foreign>
          </p>
          {asked.user_id === caller.user_id && <p class="banner quiet">{text.members.changeOwn}</p>}
          <RoleChoice caller={caller.role} chosen={chosen.value} choose={(role) => (chosen.value = role)} />
          <FormError words={gone ? text.members.gone : fault.value || told.value} />
        </div>
        <div class="dialog-foot">
          <button type="button" class="button" onClick={close}>
            {text.members.cancel}
          </button>
          <button type="submit" class="button primary" disabled={busy.value || gone || chosen.value === base.value}>
            {text.members.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
