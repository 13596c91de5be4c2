// The updates of agents that were asked for in this tab. Each is followed on the event stream until its end is known.

import { signal } from '@preact/signals';

import { untilEnded } from './awaited';
import { ask, GET } from './client';
import { hasEnded } from './commands';
import { ofPerson } from './person';
import type { Command } from './types';

/** The update that has ended last. */
export const endedUpdate = signal<Command | null>(null);
ofPerson(() => (endedUpdate.value = null));

/** Follows the command of an update until it has a result, has expired, or the login ends. */
export function followUpdate(command: Command): void {
  const id = command.command_id;
  const look = (): Promise<Command> => ask(GET('/api/v1/commands/{command_id}', { params: { path: { command_id: id } } }));
  untilEnded(command, { kind: 'command', id, look, hasEnded }).then(
    (latest) => (endedUpdate.value = latest),
    () => undefined,
  );
}
