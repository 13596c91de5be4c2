// Which remedies the present role allows: a button that the backend would refuse is not shown, and who can help is named.

import { may } from '../data/permission';
import type { Permission } from '../data/types';
import { text } from '../text';
import type { Remedy } from './causes';

const NEEDS: Record<Remedy, readonly Permission[]> = {
  repair: ['serving:operate'],
  serve: ['serving:operate'],
  redeploy: ['deployments:write'],
  // The origin is put on the allowlist, then the model is repaired.
  allow: ['settings:write', 'serving:operate'],
  retry: [],
};

/** Returns the remedies of a cause that the role allows. */
export function permitted(remedies: readonly Remedy[]): readonly Remedy[] {
  return remedies.filter((remedy) => NEEDS[remedy].every(may));
}

/** Says who can do what the role does not allow; nothing if all of it is allowed. */
export function whoCanHelp(remedies: readonly Remedy[]): string {
  const refused = remedies.filter((remedy) => !NEEDS[remedy].every(may));
  if (refused.length === 0) return '';
  return refused.includes('allow') ? text.remedies.askAdmin : text.remedies.askOperator;
}
