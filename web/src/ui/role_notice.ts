// Says that the role was changed while the pages were open: controls, and dialogs with them, may be gone.

import { effect, untracked } from '@preact/signals';

import { ofPerson } from '../data/person';
import { me } from '../data/store';
import { text } from '../text';
import { notice } from './notices';

let known: { user: string; role: string } | null = null;
ofPerson(() => (known = null));

effect(() => {
  const current = me.value;
  if (!current) return;
  const changed = known?.user === current.user_id && known.role !== current.role;
  known = { user: current.user_id, role: current.role };
  if (changed) untracked(() => notice(text.many.roleChanged(text.shell.role[current.role]), 'bad'));
});
