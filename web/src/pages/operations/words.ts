// An operation in words.

import { modelName } from '../../data/names';
import type { Operation, Work } from '../../data/types';
import { text } from '../../text';
import type { Tone } from '../../ui/parts';

/** Says what an operation does, as a person would: `Repair llama`. */
export function workWords(work: Work): string {
  switch (work.kind) {
    case 'deploy':
    case 'repair':
    case 'serve':
    case 'stop':
    case 'remove':
      return text.works.kind[work.kind](modelName(work.model_id));
    case 'update':
      return text.works.kind.update(work.version);
    case 'tag':
    case 'untag':
      return text.works.kind[work.kind](work.tags.join(', '), work.tags.length);
    case 'rename':
      return text.works.kind.rename(work.pattern);
  }
}

export const TONES: Record<Operation['state'], Tone> = { running: 'busy', succeeded: 'good', failed: 'bad', cancelled: 'quiet' };

/** Returns on how many devices an operation has ended. */
export function endedOf({ counts, devices }: Operation): number {
  return devices - counts.pending - counts.sent;
}

/** Returns the permission that the work of an operation needs. */
export function permissionFor(work: Work): 'deployments:write' | 'serving:operate' | 'devices:operate' {
  switch (work.kind) {
    case 'deploy':
    case 'remove':
      return 'deployments:write';
    case 'repair':
    case 'serve':
    case 'stop':
      return 'serving:operate';
    case 'update':
    case 'tag':
    case 'untag':
    case 'rename':
      return 'devices:operate';
  }
}
