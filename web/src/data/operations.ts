// Work on many devices: what it would touch, its start, and how it ended.

import { ask, GET, idempotencyKey, POST } from './client';
import type { Operation, OperationPlan, Work } from './types';

/** The devices of an operation: a selection, or ids. */
export type Targets = { select: string } | { devices: string[] };

/** The pause between two looks at a running operation, in milliseconds. */
const PAUSE = 700;

export async function plan(work: Work, targets: Targets): Promise<OperationPlan> {
  const body = { work, dry_run: true, ...targets };
  return (await ask(POST('/api/v1/operations', { body }))) as OperationPlan;
}

/** Starts an operation. `key` makes a repeated start, as by a double click, harmless. */
export async function begin(work: Work, targets: Targets, key = idempotencyKey()): Promise<Operation> {
  const params = { header: { 'Idempotency-Key': key } };
  return (await ask(POST('/api/v1/operations', { params, body: { work, ...targets } }))) as Operation;
}

/** Waits until an operation has ended. */
export async function ended(operation: Operation): Promise<Operation> {
  let latest = operation;
  while (latest.state === 'running') {
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    const path = { operation_id: latest.operation_id };
    latest = await ask(GET('/api/v1/operations/{operation_id}', { params: { path } }));
  }
  return latest;
}
