// An invitation: role and address first, then its link, shown once. The token is in the fragment of the link, which browsers
// send to nobody.

import { useSignal } from '@preact/signals';

import { invite } from '../../data/account';
import type { Me, Role } from '../../data/types';
import { text } from '../../text';
import { inDays } from '../../text/until';
import { useAttempt } from '../../ui/busy';
import { Dialog, DialogForm } from '../../ui/dialog';
import { FormError } from '../../ui/form_error';
import { CopyBox, ShownOnce } from '../../ui/secret';
import { RoleChoice } from './role_choice';

/** Lifetimes that are offered, in days; the backend takes up to 30. */
const LIFETIMES = [1, 7, 29] as const;

export function InviteDialog({ caller, close }: { caller: Me; close: () => void }) {
  const made = useSignal<string | null>(null);
  const role = useSignal<Role>('operator');
  const { busy, fault, run } = useAttempt();
  const send = (values: FormData): void => {
    void run(async () => {
      const email = String(values.get('email')).trim();
      made.value = (await invite(role.peek(), email, inDays(Number(values.get('days'))))).invitation_token;
    });
  };
  return (
    <Dialog title={made.value !== null ? text.members.invited : text.members.invite} close={close} wide>
      {made.value !== null ? (
        <ShownOnce id="new-invitation" then={text.members.inviteSend} close={close}>
          <CopyBox value={`${location.origin}/invite#${made.value}`} label={text.members.inviteLink} />
          <CopyBox value={made.value} label={text.members.inviteToken} primary={false} />
        </ShownOnce>
      ) : (
        <DialogForm close={close} action={text.members.inviteSubmit} ready={!busy.value} send={send}>
          <div class="field">
            <label for="invite-email">{text.members.inviteEmail}</label>
            <input id="invite-email" name="email" type="email" autofocus autocomplete="off" aria-describedby="invite-email-hint" />
            <p class="hint" id="invite-email-hint">
              {text.members.inviteEmailHint}
            </p>
          </div>
          <RoleChoice caller={caller.role} chosen={role.value} choose={(chosen) => (role.value = chosen)} />
          <div class="field">
            <label for="invite-days">{text.members.inviteExpires}</label>
            <select id="invite-days" name="days">
              {LIFETIMES.map((days) => (
                <option key={days} value={days} selected={days === 7}>
                  {text.admin.days(days)}
                </option>
              ))}
            </select>
          </div>
          <FormError words={fault} />
        </DialogForm>
      )}
    </Dialog>
  );
}
