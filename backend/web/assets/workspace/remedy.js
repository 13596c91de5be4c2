// Carries out the remedies that a cause offers; `said` hears how far they are.

import * as api from '../shared/api.js';
import { sentence } from '../shared/format.js';

/** How long a model may take to be served, in milliseconds: an engine has two minutes to load. */
const SERVING_PATIENCE = 150_000;

/** A remedy did not work; the message says why. */
export class RemedyFailed extends Error {}

/** Carries out `action` for a target. */
export async function carryOut(action, target, said) {
  const { modelId, deviceId } = target;
  switch (action) {
    case 'repair':
      return repair(target, said);
    case 'allow':
      said('Putting this origin on the allowlist…');
      const { origins } = await api.allowlist();
      await api.setAllowlist([...origins, location.origin]);
      return repair(target, said);
    case 'redeploy':
      return redeploy(target, said);
    case 'serve':
      said('Starting the model…');
      await follow(await api.serve(modelId, deviceId), said);
      return served(target, said);
    default:
      return undefined;
  }
}

async function repair({ modelId, deviceId, device }, said) {
  said(`Sending the repair to ${device}…`);
  await follow(await api.repair(modelId, deviceId), said);
  said('Repaired.');
}

async function redeploy(target, said) {
  said(`Deploying ${target.name} to ${target.device}…`);
  const { modelId, deviceId } = target;
  const started = await api.deploy({ model_id: modelId, device_id: deviceId, serve: true });
  const ended = await api.deploymentOutcome(started, {
    heard: ({ state }) => said(`Deploying ${target.name}: ${state}…`),
  });
  if (ended.state !== 'completed') {
    throw new RemedyFailed(sentence(ended.reason ?? `the deployment is ${ended.state}`));
  }
  return served(target, said);
}

async function follow(command, said) {
  const ended = await api.outcome(command, {
    heard: ({ state }) => {
      if (state === 'processed') said('The device is at work…');
    },
  });
  if (!ended.result) throw new RemedyFailed('The command expired before the device took it.');
  if (ended.result.status === 'superseded') {
    // The newer command counts, so it is the one to follow.
    said('A newer command took its place…');
    await follow(await api.command(ended.superseded_by), said);
    return;
  }
  if (ended.result.status !== 'succeeded') throw new RemedyFailed(sentence(ended.result.output));
}

async function served({ modelId, deviceId, name }, said) {
  const deadline = Date.now() + SERVING_PATIENCE;
  said(`Loading ${name}…`);
  while (Date.now() < deadline) {
    const found = (await api.deployments()).find(
      (item) => item.model_id === modelId && item.device_id === deviceId,
    );
    if (found?.serving?.is_serving) return;
    if (found?.serving?.state === 'not_serving' && found.serving.detail) {
      throw new RemedyFailed(sentence(found.serving.detail));
    }
    await api.pause(700);
  }
  throw new RemedyFailed('The model is still not served. Look at `link status` on the device.');
}
