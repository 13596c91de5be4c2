// Work that this tab has started and that may end on another page: deployments, uploads and updates of agents.

import { signal } from '@preact/signals';

import { untilEnded } from './awaited';
import { ask, GET } from './client';
import { endOfCommand } from './commands';
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

/** Returns a deployment once it has ended. `heard` is called with it while it runs. */
export function endOfDeployment(deployment: Deployment, heard?: (latest: Deployment) => void): Promise<Deployment> {
  const id = deployment.deployment_id;
  const look = (): Promise<Deployment> => ask(GET('/api/v1/deployments/{deployment_id}', { params: { path: { deployment_id: id } } }));
  return untilEnded(deployment, { kind: 'deployment', id, look, hasEnded, heard });
}

/** Follows a deployment until it has ended, or the login ends. */
export function followDeployment(deployment: Deployment): void {
  endOfDeployment(deployment).then(
    (latest) => (endedDeployment.value = latest),
    () => undefined,
  );
}

/** Follows the command of an update until it has a result, has expired, or the login ends. */
export function followUpdate(command: Command): void {
  endOfCommand(command).then(
    (latest) => (endedUpdate.value = latest),
    () => undefined,
  );
}

function hasEnded({ state }: Deployment): boolean {
  return state === 'completed' || state === 'failed' || state === 'cancelled';
}
