// What is done to a model on a device, and how it ended.

import { signal } from '@preact/signals';

import { ask, DELETE, GET, idempotencyKey, POST } from './client';
import { endOfCommand } from './commands';
import { followDeployment, followUpdate } from './ends';
import { ofPerson } from './person';
import { deployments, devices } from './store';
import type { Command, Deployment } from './types';

export type Action = 'serve' | 'stop' | 'repair' | 'redeploy' | 'remove' | 'cancel' | 'dismiss';

/** The running action of each deployment, whose controls are hidden until the outcome is known. */
export const pending = signal<ReadonlyMap<string, Action>>(new Map());
ofPerson(() => (pending.value = new Map()));

/** Does something to a deployment; a repair and a start may choose another `port`. Returns the result of the command, if there is one to
 * wait for. */
export async function act(action: Action, deployment: Deployment, port?: number): Promise<Command | null> {
  const id = deployment.deployment_id;
  mark(id, action);
  try {
    return await perform(action, deployment, port);
  } finally {
    mark(id, null);
  }
}

/** Tells whether a redeployment serves the model. A model that somebody has stopped, or is stopping, stays stopped. A model that its
 * device has given up is tried again. */
export function servesAgain({ serving }: Deployment): boolean {
  // What the device reports of the model, whatever came of the deployment.
  const state = serving?.state;
  return state === undefined || state === 'serving' || state === 'starting' || isGivenUp(serving);
}

/** Whether the device has given up serving a model, for a reason that it names. */
export function isGivenUp(serving: Deployment['serving']): boolean {
  return serving?.state === 'not_serving' && Boolean(serving.detail);
}

/** What moves a model to another port: a repair of one that serves; of one that its device has given up, perhaps because another program
 * has taken its port, a start. */
export function moverOf({ serving }: Deployment): 'repair' | 'serve' | null {
  if (serving?.is_serving) return 'repair';
  return isGivenUp(serving) ? 'serve' : null;
}

async function perform(action: Action, deployment: Deployment, port?: number): Promise<Command | null> {
  const path = { model_id: deployment.model_id, device_id: deployment.device_id };
  const header = { 'Idempotency-Key': idempotencyKey() };
  switch (action) {
    case 'serve':
      return outcome(await ask(POST('/api/v1/models/{model_id}/serve/{device_id}', { params: { path, query: port === undefined ? {} : { port } } })), deployment);
    case 'stop':
      return outcome(await ask(POST('/api/v1/models/{model_id}/stop/{device_id}', { params: { path } })), deployment);
    case 'repair': {
      const params = { path, header, query: port === undefined ? {} : { port } };
      return outcome(await ask(POST('/api/v1/models/{model_id}/repair-serving/{device_id}', { params })), deployment);
    }
    case 'remove':
      return outcome(await ask(POST('/api/v1/models/{model_id}/uninstall/{device_id}', { params: { path } })), deployment);
    case 'redeploy': {
      const { model_id, device_id, alias } = deployment;
      const body = { model_id, device_id, port: deployment.port, alias, serve: servesAgain(deployment) };
      const sent = await ask(POST('/api/v1/deployments', { params: { header }, body }));
      deployments.changed(sent);
      followDeployment(sent);
      deployments.removed(deployment.deployment_id);
      return null;
    }
    case 'cancel': {
      const params = { path: { deployment_id: deployment.deployment_id } };
      await ask(POST('/api/v1/deployments/{deployment_id}/cancel', { params }));
      return null;
    }
    case 'dismiss': {
      // To cancel what has ended says that a person has seen the end. An earlier deployment may be the current one again.
      const params = { path: { deployment_id: deployment.deployment_id } };
      await ask(POST('/api/v1/deployments/{deployment_id}/cancel', { params }));
      await look(deployment);
      return null;
    }
  }
}

/** Follows a command until its end is known, then looks at the deployment once, whatever the stream says. */
async function outcome(command: Command, deployment: Deployment): Promise<Command> {
  const latest = await endOfCommand(command);
  await look(deployment).catch(() => undefined);
  return latest;
}

async function look({ deployment_id, device_id }: Deployment): Promise<void> {
  const params = { query: { device_id, current: true, limit: 200 } };
  const { items } = await ask(GET('/api/v1/deployments', { params }));
  for (const item of items) deployments.changed(item);
  if (!items.some((item) => item.deployment_id === deployment_id)) deployments.removed(deployment_id);
}

/** Updates the agent of a device. How that ends is said by a notice. */
export async function updateDevice(id: string, version: string): Promise<void> {
  const params = { path: { device_id: id }, header: { 'Idempotency-Key': idempotencyKey() } };
  followUpdate(await ask(POST('/api/v1/devices/{device_id}/update', { params, body: { version } })));
}

const KEY_KINDS = [
  { prefix: 'lrk_', field: 'registration_key' },
  { prefix: 'lfk_', field: 'fleet_key' },
] as const;

/** Moves a device to the account of a key. Returns false, and sends nothing, if the text is not a key. */
export async function transferDevice(id: string, key: string): Promise<boolean> {
  const kind = KEY_KINDS.find(({ prefix }) => key.startsWith(prefix));
  if (!kind) return false;
  const params = { path: { device_id: id } };
  await ask(POST('/api/v1/devices/{device_id}/transfer', { params, body: { [kind.field]: key } }));
  devices.removed(id);
  return true;
}

export async function removeDevice(id: string): Promise<void> {
  await ask(DELETE('/api/v1/devices/{device_id}', { params: { path: { device_id: id } } }));
  devices.removed(id);
}

function mark(id: string, action: Action | null): void {
  const next = new Map(pending.peek());
  if (action === null) next.delete(id);
  else next.set(id, action);
  pending.value = next;
}
