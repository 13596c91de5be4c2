// The status of a deployment in words, with the bytes of its download.

import { cannotServe, hasStatus } from '../data/deployment_status';
import { devices } from '../data/store';
import type { Deployment } from '../data/types';
import { text } from '../text';
import { brief } from '../text/visible';
import { bytes } from '../text/format';
import { Badge, type BadgeWords } from './parts';

/** What a deployment does, and that its allowlist is stale. */
export function DeploymentBadges({ deployment }: { deployment: Deployment }) {
  return (
    <span class="badges">
      <StateBadge deployment={deployment} />
      {servesOn(deployment) && <Badge tone="good">{text.models.serving}</Badge>}
      {hasStatus(deployment, 'stale') && <Badge tone="warn">{text.models.allowlistStale}</Badge>}
    </span>
  );
}

/** Tells whether a model serves as before, although its newest deployment has failed or was cancelled. */
function servesOn({ state, serving, device_id: device }: Deployment): boolean {
  return (state === 'failed' || state === 'cancelled') && serving?.is_serving === true && devices.row(device)?.value.online !== false;
}

/** What a deployment does, whatever its allowlist is. */
export function StateBadge({ deployment }: { deployment: Deployment }) {
  const { tone, words } = stateWords(deployment);
  return <Badge tone={tone}>{words}</Badge>;
}

function stateWords(deployment: Deployment): BadgeWords {
  const { state, serving } = deployment;
  switch (state) {
    case 'queued':
    case 'downloading':
    case 'configuring':
      return { tone: 'busy', words: text.models.states[state] };
    case 'failed':
      return { tone: 'bad', words: text.models.states.failed };
    case 'cancelled':
      return { tone: 'quiet', words: text.models.states.cancelled };
    case 'completed':
      if (cannotServe(deployment)) return { tone: 'bad', words: text.models.cannotServe };
      if (saysOffline(deployment)) return { tone: 'quiet', words: text.models.deviceOffline };
      return servingWords(serving);
  }
}

/** Tells whether the state of a deployment is that its device is offline: nobody can tell what an absent device does, and nobody reaches its
 * models. */
export function saysOffline(deployment: Deployment): boolean {
  const { state, serving, device_id: device } = deployment;
  return state === 'completed' && !cannotServe(deployment) && serving?.is_serving === true && devices.row(device)?.value.online === false;
}

/** A model that is being loaded or stopped serves nobody at this moment. */
function servingWords(serving: Deployment['serving']): BadgeWords {
  if (serving?.is_serving) return { tone: 'good', words: text.models.serving };
  if (serving?.state === 'starting' || serving?.state === 'stopping') return { tone: 'busy', words: text.models[serving.state] };
  return { tone: 'quiet', words: text.models.notServing };
}

/** How far a download has come. Before the first byte there is a bar without a measure. */
export function DownloadProgress({ deployment, name }: { deployment: Deployment; name: string }) {
  const { bytes_done: done, bytes_total: total } = deployment.progress;
  const measured = total > 0 && deployment.state === 'downloading';
  return (
    <span class="download">
      <progress aria-label={text.models.progressOf(brief(name))} value={measured ? done : undefined} max={Math.max(total, 1)} />
      {measured && <span class="small number soft">{text.models.progress(bytes(done), bytes(total))}</span>}
    </span>
  );
}
