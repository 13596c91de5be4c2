// The removal of a member. What happens to the keys of the member is asked first, since devices may be waiting with them.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { keysOf, members, removeMember } from '../../data/account';
import { isValid } from '../../data/keys';
import type { Key, Member } from '../../data/types';
import { text } from '../../text';
import { visible } from '../../text/visible';
import { useAttempt } from '../../ui/busy';
import { Confirm } from '../../ui/dialog';
import { FormError } from '../../ui/form_error';
import { notice } from '../../ui/notices';
import { Foreign } from '../../ui/parts';

const MOST_SHOWN = 8;

export function RemoveMemberDialog({ member, close }: { member: Member; close: () => void }) {
  const { busy, fault, run } = useAttempt();
  const looking = useAttempt();
  const theirs = useSignal<Key[] | null>(null);
  const keys = useSignal<'revoke' | 'take_over'>('revoke');
  const known = (members.rows.revision.value, members.rows.row(member.user_id)?.value);
  const gone = known === undefined && members.loading.value.state === 'ready' && !busy.value;
  const email = visible(member.email);
  useEffect(() => {
    void looking.run(async () => {
      const found = await keysOf(member.user_id);
      theirs.value = found.filter((key) => isValid(key, Date.now()));
    });
  }, []);
  const remove = (): void => {
    void run(async () => {
      const { revoked, taken_over: taken } = await removeMember(member.user_id, keys.peek());
      notice(text.members.removed(email, revoked.length, taken.length));
      close();
    });
  };
  return (
    <Confirm
      title={text.members.removeTitle}
      action={text.members.removeAction}
      close={close}
      ready={!busy.value && !gone && theirs.value !== null}
      act={remove}
    >
      <p dir="auto">{text.members.removeBody(email)}</p>
      <div role="status">
        {theirs.value === null && looking.fault.value === '' && <p class="soft">{text.members.keysLoading}</p>}
        {theirs.value?.length === 0 && <p>{text.members.noKeys}</p>}
        {theirs.value !== null && theirs.value.length > 0 && <TheirKeys keys={theirs.value} />}
      </div>
      {theirs.value !== null && theirs.value.length > 0 && (
        <fieldset class="radio-set">
          <legend>{text.keys.title}</legend>
          {(['revoke', 'take_over'] as const).map((one) => (
            <label key={one}>
              <input type="radio" name="keys" value={one} checked={keys.value === one} onChange={() => (keys.value = one)} />
              {one === 'revoke' ? text.members.revokeKeys : text.members.takeOver}
            </label>
          ))}
        </fieldset>
      )}
      <FormError words={gone ? text.members.gone : fault.value || looking.fault.value} />
    </Confirm>
  );
}

function TheirKeys({ keys }: { keys: readonly Key[] }) {
  return (
    <div class="touched">
      <p>{text.members.keys(keys.length)}</p>
      <ul>
        {keys.slice(0, MOST_SHOWN).map((key) => (
          <li key={key.key_id}>
            <Foreign>{key.name || key.key_id}</Foreign>
            <span class="soft small">{text.keys.kinds[key.kind]}</span>
          </li>
        ))}
      </ul>
      {keys.length > MOST_SHOWN && <p class="soft small">{text.bulk.andMore(keys.length - MOST_SHOWN)}</p>}
    </div>
  );
}
