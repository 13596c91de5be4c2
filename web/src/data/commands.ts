// A command that is awaited: its end, and what is said of that. The backend lets a command expire, so the wait has no deadline of its own.

import { text } from '../text';
import { sentence } from '../text/visible';
import { untilEnded } from './awaited';
import { ask, GET } from './client';
import type { Command } from './types';

export function findCommand(id: string): Promise<Command> {
  return ask(GET('/api/v1/commands/{command_id}', { params: { path: { command_id: id } } }));
}

/** Returns a command once it has its result, or never gets one. `heard` is called with it while it runs. */
export function endOfCommand(command: Command, heard?: (latest: Command) => void): Promise<Command> {
  const id = command.command_id;
  return untilEnded(command, { kind: 'command', id, look: () => findCommand(id), hasEnded, heard });
}

/** Says why a command that has ended did not succeed; `null` if it did. */
export function whyNotSucceeded({ result }: Command): string | null {
  if (!result) return text.models.expired;
  if (result.status === 'succeeded') return null;
  return result.status === 'superseded' ? text.models.superseded : sentence(result.output);
}

function hasEnded({ result, state }: Command): boolean {
  return Boolean(result) || state === 'expired';
}
