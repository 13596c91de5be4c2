// An invitation: role and address first, then its link, shown once. The token is in the fragment of the link, which browsers
// send to nobody.

import { useSignal } from '@preact/signals';

import { invite } from '../../data/account';
import type { Me, Role } from '../../data/types';
import { text } from '../../text';
import { inDays } from '../../text/until';
import { useAttempt } from '../../ui/busy';
import { Dialog } from '../../ui/dialog';
import { FormError } from '../../ui/form_error';
import { CopyBox } from '../../ui/secret';
import { RoleChoice } from './role_choice';

/** Lifetimes that are offered, in days; the backend takes up to 30. */
const LIFETIMES = [1, 7, 29] as const;

export function InviteDialog({ caller, close }: { caller: Me; close: () => void }) {
  const made = useSignal<string | null>(null);
  const role = useSignal<Role>('operator');
  const { busy, fault, run } = useAttempt();
  const sent = (event: SubmitEvent): void => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    void run(async () => {
      const email = String(values.get('email')).trim();
      made.value = (await invite(role.peek(), email, inDays(Number(values.get('days'))))).invitation_token;
    });
  };
  if (made.value !== null) {
    return (
      <Dialog title={text.members.invited} close={close} wide>
        <div class="dialog-body" id="new-invitation">
          <p role="status">
            <strong>{text.admin.once}</strong> {text.members.inviteSend}
          </p>
          <CopyBox value={`${location.origin}/invite#${made.value}`} label={text.members.inviteLink} />
          <CopyBox value={made.value} label={text.members.inviteToken} primary={false} />
        </div>
        <div class="dialog-foot">
          <button type="button" class="button" onClick={close}>
            {text.admin.done}
          </button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={text.members.invite} close={close} wide>
      <form onSubmit={sent}>
        <div class="dialog-body">
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
        </div>
        <div class="dialog-foot">
          <button type="button" class="button" onClick={close}>
            {text.members.cancel}
          </button>
          <button type="submit" class="button primary" disabled={busy}>
            {text.members.inviteSubmit}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
