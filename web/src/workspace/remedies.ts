// Carries out the remedies that a cause offers; `said` hears how far they are.

import { allowOrigin } from '../data/allowlist';
import { patiently } from '../data/awaited';
import { ask, GET, idempotencyKey, POST } from '../data/client';
import { endOfCommand, findCommand, whyNotSucceeded } from '../data/commands';
import { endOfDeployment } from '../data/ends';
import { pause } from '../data/person';
import type { Command } from '../data/types';
import { text } from '../text';
import { sentence } from '../text/visible';
import type { Remedy } from './causes';
import type { Target } from './targets';

/** How long a model may take to be served, in milliseconds: an engine has two minutes to load. */
const SERVING_PATIENCE = 150_000;
/** The pause between two questions whether a model is served, in milliseconds. */
const LOOK = 700;

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
  const sent = await ask(POST('/api/v1/deployments', { params, body }));
  const { state, reason } = await endOfDeployment(sent, (latest) => said(text.remedies.deployment(target.name, text.models.states[latest.state])));
  if (state !== 'completed') throw new RemedyFailed(sentence(reason ?? text.remedies.deploymentIs(text.models.states[state])));
  return served(target, said);
}

async function follow(command: Command, said: Said): Promise<void> {
  const ended = await endOfCommand(command, ({ state }) => {
    if (state === 'processed') said(text.remedies.atWork);
  });
  const newer = ended.result?.status === 'superseded' ? ended.superseded_by : null;
  if (newer) {
    // The newer command counts, so it is the one to follow.
    said(text.remedies.superseded);
    return follow(await patiently(() => findCommand(newer)), said);
  }
  const why = whyNotSucceeded(ended);
  if (why !== null) throw new RemedyFailed(why);
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
