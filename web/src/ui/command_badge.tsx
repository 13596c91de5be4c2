// The state of a command in words: how it has ended, or what it waits for.

import type { Command } from '../data/types';
import { text } from '../text';
import { Badge } from './parts';

export function CommandBadge({ command: { state, result } }: { command: Command }) {
  if (!result) return <Badge tone={state === 'expired' ? 'bad' : 'busy'}>{text.commands.states[state]}</Badge>;
  const { status } = result;
  const tone = status === 'succeeded' ? 'good' : status === 'failed' || status === 'rejected' ? 'bad' : 'quiet';
  return <Badge tone={tone}>{text.commands.results[status]}</Badge>;
}
