// Work that was begun in this tab and ends later, on whatever page the person is by then: deployments and uploads.

import { signal } from '@preact/signals';

import { untilEnded } from './awaited';
import { ask, GET } from './client';
import { ofPerson } from './person';
import type { Deployment } from './types';

/** The deployment that has ended last. */
export const endedDeployment = signal<Deployment | null>(null);
/** The upload that has ended last: its model, and why it failed, if it did. */
export const endedUpload = signal<{ model_id: string; error: unknown } | null>(null);
ofPerson(() => {
  endedDeployment.value = null;
  endedUpload.value = null;
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

function hasEnded({ state }: Deployment): boolean {
  return state === 'completed' || state === 'failed' || state === 'cancelled';
}
