// The updates of agents that were asked for in this tab. Each is followed on the event stream until its end is known.

import { signal } from '@preact/signals';

import { ask, GET } from './client';
import { type Follower, followers } from './followers';
import { ofPerson } from './person';
import type { Command } from './types';

/** The update that has ended last. */
export const endedUpdate = signal<Command | null>(null);
ofPerson(() => (endedUpdate.value = null));

/** Follows the command of an update until it has a result, has expired, or the login ends. */
export function followUpdate(command: Command): void {
  const id = command.command_id;
  const hear = (latest: Command): void => {
    if (!latest.result && latest.state !== 'expired') return;
    if (followers.delete(follower)) endedUpdate.value = latest;
  };
  const look = (): void => {
    ask(GET('/api/v1/commands/{command_id}', { params: { path: { command_id: id } } })).then(hear, () => undefined);
  };
  const follower: Follower = {
    changed: ({ kind, id: changed, item }) => {
      if (kind === 'command' && changed === id && item !== null) hear(item as Command);
    },
    reload: look,
    clear: () => followers.delete(follower),
  };
  followers.add(follower);
  // The command may have ended before its follower was there.
  look();
}
