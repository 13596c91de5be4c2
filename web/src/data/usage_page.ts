// The two kinds of answers about usage. One address gives both: groups to a request with `group_by`, else a list.

import { ask, GET } from './client';
import { Unreadable } from './problem';
import type { operations } from './schema';
import type { UsageGroups, UsagePage } from './types';

type Query = NonNullable<operations['list_usage']['parameters']['query']>;

/** Reads usage in groups. */
export async function usageGroups(query: Pick<Query, 'bucket' | 'from' | 'to' | 'model_id' | 'device_id'> & Required<Pick<Query, 'group_by'>>, signal: AbortSignal): Promise<UsageGroups> {
  const answer = await answerTo(query, signal);
  if (!('groups' in answer)) throw new Unreadable('a list instead of groups');
  return answer;
}

function answerTo(query: Query, signal?: AbortSignal): Promise<UsagePage | UsageGroups> {
  return ask(GET('/api/v1/usage', { params: { query }, ...(signal ? { signal } : {}) }));
}
