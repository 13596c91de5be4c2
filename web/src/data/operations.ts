// Work on many devices: what it would touch, its start, and how it ended.

import { ask, GET, POST } from './client';
import { pause } from './person';
import type { Operation, OperationPlan, Work } from './types';

/** The pause between two looks at a running operation, in milliseconds. */
const PAUSE = 700;

/** Says what an operation on `devices` would touch. They are ids: a selection would be another one at the start. */
export async function plan(work: Work, devices: string[]): Promise<OperationPlan> {
  const body = { work, dry_run: true, devices };
  return (await ask(POST('/api/v1/operations', { body }))) as OperationPlan;
}

/** Starts an operation. `key` makes a repeated start, as by a double click, harmless. */
export async function begin(work: Work, devices: string[], key: string): Promise<Operation> {
  const params = { header: { 'Idempotency-Key': key } };
  return (await ask(POST('/api/v1/operations', { params, body: { work, devices } }))) as Operation;
}

/** Waits until an operation has ended. */
export async function ended(operation: Operation): Promise<Operation> {
  let latest = operation;
  while (latest.state === 'running') {
    await pause(PAUSE);
    const path = { operation_id: latest.operation_id };
    latest = await ask(GET('/api/v1/operations/{operation_id}', { params: { path } }));
  }
  return latest;
}
