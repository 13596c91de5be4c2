// How far an operation has come.

import type { Operation } from '../../data/types';
import { text } from '../../text';
import { visible } from '../../text/visible';
import { endedOf, workWords } from './words';

export function Progress({ operation }: { operation: Operation }) {
  const { devices, counts, state } = operation;
  const ended = endedOf(operation);
  return (
    <div class="stacked operation-progress">
      {state === 'running' && <progress aria-label={text.works.progressOf(visible(workWords(operation.work)))} value={ended} max={Math.max(devices, 1)} />}
      <span class="small number soft">
        {text.works.progress(counts.succeeded, devices)}
        {counts.failed > 0 && <span class="bad-words">, {text.works.failedOf(counts.failed)}</span>}
        {counts.skipped > 0 && `, ${text.works.skippedOf(counts.skipped)}`}
        {counts.cancelled > 0 && `, ${text.works.cancelledOf(counts.cancelled)}`}
      </span>
    </div>
  );
}
