// The question before a key is revoked: what that means, with the devices that the key has registered until this moment.

import { useEffect } from 'preact/hooks';

import { keys, revokeKey } from '../../data/account';
import type { Key } from '../../data/types';
import { text } from '../../text';
import { brief } from '../../text/visible';
import { useAttempt } from '../../ui/busy';
import { Confirm } from '../../ui/dialog';
import { FormError } from '../../ui/form_error';
import { notice } from '../../ui/notices';

/** `asked` is the key as it was when the question was asked. */
export function RevokeDialog({ id, asked, close }: { id: string; asked: Key; close: () => void }) {
  const { busy, fault, run } = useAttempt();
  const key = keys.rows.row(id)?.value ?? asked;
  const name = brief(key.name || key.key_id);
  useEffect(() => {
    // Somebody else was faster.
    if (key.revoked && !busy.peek()) {
      notice(text.keys.revoked(name));
      close();
    }
  }, [key.revoked]);
  const revoke = async (): Promise<void> => {
    if (await run(() => revokeKey(key))) {
      notice(text.keys.revoked(name));
      close();
    }
  };
  return (
    <Confirm title={text.keys.revokeTitle} action={text.keys.revokeAction} close={close} ready={!busy.value} act={() => void revoke()}>
      <p dir="auto">{text.keys.revokeBody(name)}</p>
      <p>{text.keys.revokeStays(key.devices)}</p>
      <FormError words={fault} />
    </Confirm>
  );
}
