// What a deployment is in the eyes of a person who looks for what is wrong, and what can be done about it. Pure.

import type { Action } from './actions';
import type { Deployment } from './types';

export const DEPLOYMENT_STATUSES = ['stale', 'failed', 'progress', 'serving', 'stopped', 'cancelled'] as const;
export type DeploymentStatus = (typeof DEPLOYMENT_STATUSES)[number];

const UNDER_WAY = new Set(['queued', 'downloading', 'configuring']);

/** Tells whether a deployment counts for a filter: a stale one that is served counts for both. A redeployment that failed leaves the
 * model as it was, so it can be stale and served too. */
export function hasStatus(deployment: Deployment, status: DeploymentStatus): boolean {
  switch (status) {
    case 'stale':
      return deployment.stale && isHeld(deployment) && !UNDER_WAY.has(deployment.state);
    case 'failed':
      return deployment.state === 'failed' || cannotServe(deployment);
    case 'progress':
      return UNDER_WAY.has(deployment.state);
    case 'serving':
      return deployment.serving?.is_serving === true;
    case 'stopped':
      return deployment.state === 'completed' && deployment.serving?.is_serving !== true && !cannotServe(deployment);
    case 'cancelled':
      return deployment.state === 'cancelled';
  }
}

/** Tells whether the device has given up serving a model: it says why. Of a model that somebody stopped it says nothing. */
export function cannotServe({ state, serving }: Deployment): boolean {
  return state === 'completed' && serving?.state === 'not_serving' && !serving.is_serving && Boolean(serving.detail);
}

/** Returns the one status by which a deployment is ordered: what needs a person comes first. */
export function statusOf(deployment: Deployment): DeploymentStatus {
  return DEPLOYMENT_STATUSES.find((status) => hasStatus(deployment, status)) ?? 'stopped';
}

/** Tells whether a deployment is listed: its model was not removed, and nobody has dismissed its end. */
export function isThere({ removed }: Deployment): boolean {
  return !removed;
}

/** Tells whether a model is on its device or on the way there, whatever came of its newest deployment. */
export function isHeld({ state, serving, removed }: Deployment): boolean {
  if (UNDER_WAY.has(state)) return true;
  return !removed && (state === 'completed' || Boolean(serving));
}

/** Returns the actions that mend or end a deployment, the most useful first. A row has room for two. Actions that need the device wait
 * until it is online. */
export function remediesFor(deployment: Deployment): Action[] {
  const { state, serving, stale } = deployment;
  if (UNDER_WAY.has(state)) return ['cancel'];
  if (state !== 'completed') return hasStatus(deployment, 'stale') ? ['repair', 'redeploy'] : ['redeploy', 'dismiss'];
  const isStopped = !serving?.is_serving && serving?.state !== 'starting' && serving?.state !== 'stopping';
  if (stale) return isStopped ? ['repair', 'serve'] : ['repair', 'redeploy'];
  return isStopped ? ['serve', 'redeploy'] : ['redeploy'];
}
