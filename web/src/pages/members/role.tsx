// The change of a role. A change by somebody else in the meantime is said and not overwritten.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { changeRole, currentMember, members } from '../../data/account';
import type { Me, Member, Role } from '../../data/types';
import { text } from '../../text';
import { useAttempt } from '../../ui/busy';
import { Dialog, DialogForm } from '../../ui/dialog';
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
  const send = (): void => {
    void run(async () => {
      const wanted = chosen.peek();
      const current = await currentMember(asked.user_id);
      if (!current) return;
      if (current.role !== base.peek()) {
        tell(current.role);
        return;
      }
      await changeRole(asked.user_id, wanted);
      notice(text.members.changed(asked.email, text.shell.role[wanted]));
      close();
    });
  };
  return (
    <Dialog title={text.members.changeTitle} close={close} wide>
      <DialogForm close={close} action={text.members.save} ready={!busy.value && !gone && chosen.value !== base.value} send={send}>
        <p>
          <Foreign>{asked.email}</Foreign>
        </p>
        {asked.user_id === caller.user_id && <p class="banner quiet">{text.members.changeOwn}</p>}
        <RoleChoice caller={caller.role} chosen={chosen.value} choose={(role) => (chosen.value = role)} />
        <FormError words={gone ? text.members.gone : fault.value || told.value} />
      </DialogForm>
    </Dialog>
  );
}
