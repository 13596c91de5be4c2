// The standing of a deployment in words, with the bytes of its download.

import { standingOf } from '../data/standing';
import type { Deployment } from '../data/types';
import { text } from '../text';
import { bytes } from '../text/format';
import { Badge, type Tone } from './parts';

export function StandingBadge({ deployment }: { deployment: Deployment }) {
  const [tone, words] = standingWords(deployment);
  return <Badge tone={tone}>{words}</Badge>;
}

function standingWords(deployment: Deployment): [Tone, string] {
  const { standing } = text.deployed;
  switch (standingOf(deployment)) {
    case 'stale':
      return ['warn', text.models.allowlistStale];
    case 'failed':
      return ['bad', standing.failed];
    case 'progress':
      return ['busy', text.models.states[deployment.state]];
    case 'serving':
      return ['good', standing.serving];
    case 'stopped':
      return stoppedWords(deployment);
    case 'cancelled':
      return ['quiet', standing.cancelled];
  }
}

/** A model that is being loaded or stopped serves nobody at this moment. */
function stoppedWords({ serving }: Deployment): [Tone, string] {
  if (serving?.state === 'starting' || serving?.state === 'stopping') return ['busy', text.models[serving.state]];
  return ['quiet', text.deployed.standing.stopped];
}

/** How far a download has come. Before the first byte there is a bar without a measure. */
export function DownloadProgress({ deployment, name }: { deployment: Deployment; name: string }) {
  const { bytes_done: done, bytes_total: total } = deployment.progress;
  const measured = total > 0 && deployment.state === 'downloading';
  return (
    <span class="download">
      <progress aria-label={text.models.progressOf(name)} value={measured ? done : undefined} max={Math.max(total, 1)} />
      {measured && <span class="small number soft">{text.models.progress(bytes(done), bytes(total))}</span>}
    </span>
  );
}
