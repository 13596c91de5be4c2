// Pages of the list of usage. The same address answers with groups, but only a request with `group_by` gets them.

import { ask, GET } from './client';
import type { components, operations } from './schema';

type Query = Omit<NonNullable<operations['list_usage']['parameters']['query']>, 'group_by'>;
type UsagePage = components['schemas']['Page_Usage'];

/** Reads a page of the list of usage. */
export async function usagePage(query: Query, signal?: AbortSignal): Promise<UsagePage> {
  const answer = await ask(GET('/api/v1/usage', { params: { query }, ...(signal ? { signal } : {}) }));
  if (!('items' in answer)) throw new TypeError('the backend answered with groups instead of a list of usage');
  return answer;
}
