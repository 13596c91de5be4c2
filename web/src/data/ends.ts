// Work that this tab has started and that may end on another page: deployments, uploads and updates of agents.

import { signal } from '@preact/signals';

import { untilEnded } from './awaited';
import { ask, GET } from './client';
import { hasEnded as commandHasEnded } from './commands';
import { ofPerson } from './person';
import type { Command, Deployment } from './types';

/** The deployment that has ended last. */
export const endedDeployment = signal<Deployment | null>(null);
/** The upload that has ended last: its model, and why it failed, if it did. */
export const endedUpload = signal<{ model_id: string; error: unknown } | null>(null);
/** The update that has ended last. */
export const endedUpdate = signal<Command | null>(null);
ofPerson(() => {
  endedDeployment.value = null;
  endedUpload.value = null;
  endedUpdate.value = null;
});

/** Follows a deployment until it has ended, or the login ends. */
export function followDeployment(deployment: Deployment): void {
  const id = deployment.deployment_id;
  const look = (): Promise<Deployment> => ask(GET('/api/v1/deployments/{deployment_id}', { params: { path: { deployment_id: id } } }));
  untilEnded(deployment, { kind: 'deployment', id, look, hasEnded }).then(
    (latest) => (endedDeployment.value = latest),
    () => undefined,
  );
}

/** Follows the command of an update until it has a result, has expired, or the login ends. */
export function followUpdate(command: Command): void {
  const id = command.command_id;
  const look = (): Promise<Command> => ask(GET('/api/v1/commands/{command_id}', { params: { path: { command_id: id } } }));
  untilEnded(command, { kind: 'command', id, look, hasEnded: commandHasEnded }).then(
    (latest) => (endedUpdate.value = latest),
    () => undefined,
  );
}

function hasEnded({ state }: Deployment): boolean {
  return state === 'completed' || state === 'failed' || state === 'cancelled';
}
