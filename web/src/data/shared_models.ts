// The sharing of a model with every account of the backend, and what of it is asked for and not answered yet.

import { ask, PATCH } from './client';
import { models } from './store';
import type { Model } from './types';
import { PendingChanges } from './pending';

const pending = new PendingChanges<{ shared: boolean }>();

export async function shareModel(id: string, shared: boolean): Promise<Model> {
  return pending.during(id, { shared }, async () => {
    const model = await ask(PATCH('/api/v1/models/{model_id}', { params: { path: { model_id: id } }, body: { shared } }));
    models.changed(model);
    return model;
  });
}

/** Returns whether a model is to be shared from now on, or undefined if nobody at this page has asked to change it. */
export function sharingAskedFor(id: string): boolean | undefined {
  return pending.of(id).at(-1)?.shared;
}
