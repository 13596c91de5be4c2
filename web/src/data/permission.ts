// The permissions of the user's role, so that the pages hide controls that the backend would refuse. The backend
// decides.

import { effect, untracked } from '@preact/signals';

import { allowed } from './allowed';
import { ask, GET } from './client';
import { Problem } from './problem';
import { beginAnew, nameOf } from './session';
import { live, me } from './store';
import type { Permission } from './types';

/** Tells whether the present role has a permission. A component that asks is drawn again when the role changes. */
export function may(permission: Permission): boolean {
  const role = me.value?.role;
  return role !== undefined && allowed(role, permission);
}

/** Asks for the role anew, as after a refusal: it may have been changed while the page was open. */
export async function learnRole(): Promise<void> {
  const before = me.peek();
  if (!before) return;
  const known = await ask(GET('/api/v1/me'));
  if (me.peek() !== before) return;
  if (nameOf(known) === nameOf(before)) me.value = known;
  else beginAnew();
}

/** Learns the role anew if an error is a refusal for want of a permission. */
export function noteRefusal(error: unknown): void {
  if (error instanceof Problem && error.status === 403) learnRole().catch(() => undefined);
}

// A changed role ends the stream. When it is back, the role is asked for.
let wasLost = false;
effect(() => {
  const { state } = live.value;
  untracked(() => {
    if (state === 'live' && wasLost) learnRole().catch(() => undefined);
  });
  wasLost = state === 'lost';
});
