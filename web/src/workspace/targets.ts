// Which models can be asked, on which device, and why the others cannot. Pure.

import { nameOf } from '../data/model_name';
import { purposeOf, type Purpose } from '../data/purpose';
import { stateOf } from '../data/selection';
import { isThere } from '../data/deployment_status';
import type { Deployment, Device, Model } from '../data/types';
import { byText, nameKey } from '../text/collation';
import type { Other } from './lines';

/** What the workspace does with a model: asks it in words, sends files of a kind, or shows the request that it is for. */
export type Task = 'chat' | 'transcribe' | 'images' | 'sounds' | Other;

/** Why a model cannot be asked. */
export type Absence = 'stopped' | 'starting' | 'deploying' | 'failed' | 'offline' | 'updating' | 'elsewhere';

export interface Target {
  id: string;
  modelId: string;
  deviceId: string;
  deployment: Deployment;
  name: string;
  device: string;
  alias: string;
  port: number;
  task: Task;
  stale: boolean;
  /** `null` if the model is served. */
  absent: Absence | null;
  /** Whether its device has named itself on the port of this computer. */
  here: boolean;
}

const TASKS: Readonly<Record<Purpose, Task>> = {
  chat: 'chat',
  embeddings: 'embeddings',
  rerank: 'rerank',
  transcription: 'transcribe',
  images: 'images',
  sounds: 'sounds',
};

/**
 * Returns all current deployments that this page knows how to ask: those of this computer first, then others that are served, each with
 * the stale ones last. `answering` has the device behind each port of this computer that is known.
 */
export function targetsOf(
  deployments: readonly Deployment[],
  modelOf: (id: string) => Model | undefined,
  deviceOf: (id: string) => Device | undefined,
  answering: ReadonlyMap<number, string> = new Map(),
): Target[] {
  const found: Target[] = [];
  for (const deployment of deployments) {
    const model = modelOf(deployment.model_id);
    const device = deviceOf(deployment.device_id);
    const task = taskOf(deployment, model);
    if (!task || deployment.state === 'cancelled' || !isThere(deployment)) continue;
    const port = deployment.serving?.port ?? deployment.port;
    const there = answering.get(port);
    found.push({
      id: `${deployment.model_id} ${deployment.device_id}`,
      modelId: deployment.model_id,
      deviceId: deployment.device_id,
      deployment,
      name: model ? nameOf(model) : deployment.alias,
      device: device?.name ?? deployment.device_id,
      alias: deployment.alias,
      port,
      task,
      stale: deployment.stale,
      absent: absence(deployment, device) ?? (there !== undefined && there !== deployment.device_id ? 'elsewhere' : null),
      here: there === deployment.device_id,
    });
  }
  const order = (target: Target): string => `${rank(target)} ${nameKey(target.name)}\n${nameKey(target.device)}`;
  return found
    .map((target) => [order(target), target] as const)
    .sort(([a], [b]) => byText(a, b))
    .map(([, target]) => target);
}

/**
 * A model that this account may not read was shared with it once. It and a language model whose file was not read are asked
 * in words: most models take them, and the device refuses what the model is not for.
 */
export function taskOf(deployment: Deployment, model: Model | undefined): Task | null {
  const purpose = purposeOf(model, deployment);
  if (purpose) return TASKS[purpose];
  return model === undefined || model.plugin === 'language_model' ? 'chat' : null;
}

function absence({ state, serving }: Deployment, device: Device | undefined): Absence | null {
  const presence = device && stateOf(device);
  if (presence === 'offline' || presence === 'updating') return presence;
  if (serving?.is_serving) return null;
  if (state === 'failed') return 'failed';
  if (state !== 'completed') return 'deploying';
  return serving?.state === 'starting' ? 'starting' : 'stopped';
}

/**
 * A model of this computer comes first, because the page asks this computer alone. Of these and of the others, one with a stale
 * allowlist comes last: it may refuse this page until it is repaired.
 */
function rank({ absent, stale, here }: Target): number {
  if (absent !== null) return 4;
  return (here ? 0 : 2) + (stale ? 1 : 0);
}
