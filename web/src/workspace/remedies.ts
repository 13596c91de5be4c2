// Carries out the remedies that a cause offers; `said` hears how far they are.

import { allowOrigin } from '../data/allowlist';
import { patiently } from '../data/awaited';
import { ask, GET, idempotencyKey, POST } from '../data/client';
import { pause } from '../data/person';
import type { Command, Deployment } from '../data/types';
import { text } from '../text';
import { sentence } from '../text/visible';
import type { Remedy } from './causes';
import type { Target } from './targets';

/** How long a model may take to be served, in milliseconds: an engine has two minutes to load. */
const SERVING_PATIENCE = 150_000;
/** The pause between two looks at a deployment, in milliseconds. */
const LOOK = 700;
/** The shortest time between two questions about a command, in milliseconds. */
const GAP = 300;

/** A remedy did not work; the message says why. */
export class RemedyFailed extends Error {}

type Said = (words: string) => void;

/** Carries out `remedy` for a target. */
export async function carryOut(remedy: Remedy, target: Target, said: Said): Promise<void> {
  switch (remedy) {
    case 'repair':
      return repair(target, said);
    case 'allow': {
      said(text.remedies.allowing);
      await allowOrigin(location.origin);
      return repair(target, said);
    }
    case 'redeploy':
      return redeploy(target, said);
    case 'serve': {
      said(text.remedies.starting);
      const params = { path: { model_id: target.modelId, device_id: target.deviceId } };
      await follow(await ask(POST('/api/v1/models/{model_id}/serve/{device_id}', { params })), said);
      return served(target, said);
    }
    case 'retry':
  }
}

async function repair({ modelId, deviceId, device }: Target, said: Said): Promise<void> {
  said(text.remedies.repairing(device));
  const params = { path: { model_id: modelId, device_id: deviceId }, header: { 'Idempotency-Key': idempotencyKey() } };
  await follow(await ask(POST('/api/v1/models/{model_id}/repair-serving/{device_id}', { params })), said);
  said(text.remedies.repaired);
}

async function redeploy(target: Target, said: Said): Promise<void> {
  said(text.remedies.deploying(target.name, target.device));
  const { modelId, deviceId, deployment } = target;
  // Whoever asks from a page wants pages to be let in, whatever the deployment before said.
  const proxy = { cors: true };
  const body = { model_id: modelId, device_id: deviceId, port: target.port, alias: deployment.alias, serve: true, proxy };
  const params = { header: { 'Idempotency-Key': idempotencyKey() } };
  let latest = await ask(POST('/api/v1/deployments', { params, body }));
  while (!hasEnded(latest)) {
    await pause(LOOK);
    const path = { deployment_id: latest.deployment_id };
    latest = await patiently(() => ask(GET('/api/v1/deployments/{deployment_id}', { params: { path } })));
    said(text.remedies.deployment(target.name, text.models.states[latest.state]));
  }
  if (latest.state !== 'completed') {
    throw new RemedyFailed(sentence(latest.reason ?? text.remedies.deploymentIs(text.models.states[latest.state])));
  }
  return served(target, said);
}

async function follow(command: Command, said: Said): Promise<void> {
  let latest = command;
  while (!latest.result && latest.state !== 'expired') {
    const asked = Date.now();
    const params = { path: { command_id: command.command_id }, query: { wait: 20 } };
    latest = await patiently(() => ask(GET('/api/v1/commands/{command_id}', { params })));
    if (latest.state === 'processed') said(text.remedies.atWork);
    if (!latest.result) await pause(Math.max(GAP - (Date.now() - asked), 0));
  }
  if (!latest.result) throw new RemedyFailed(text.remedies.expired);
  if (latest.result.status === 'superseded' && latest.superseded_by) {
    // The newer command counts, so it is the one to follow.
    said(text.remedies.superseded);
    const path = { command_id: latest.superseded_by };
    return follow(await patiently(() => ask(GET('/api/v1/commands/{command_id}', { params: { path } }))), said);
  }
  if (latest.result.status !== 'succeeded') throw new RemedyFailed(sentence(latest.result.output));
}

async function served({ modelId, deviceId, name }: Target, said: Said): Promise<void> {
  const deadline = Date.now() + SERVING_PATIENCE;
  said(text.remedies.loading(name));
  while (Date.now() < deadline) {
    const query = { device_id: deviceId, model_id: modelId, current: true, limit: 1 };
    const { items } = await patiently(() => ask(GET('/api/v1/deployments', { params: { query } })));
    const serving = items[0]?.serving;
    if (serving?.is_serving) return;
    if (serving?.state === 'not_serving' && serving.detail) throw new RemedyFailed(sentence(serving.detail));
    await pause(LOOK);
  }
  throw new RemedyFailed(text.remedies.notServed);
}

function hasEnded({ state }: Deployment): boolean {
  return state === 'completed' || state === 'failed' || state === 'cancelled';
}
