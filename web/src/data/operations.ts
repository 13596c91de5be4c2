// Work on many devices: what it would touch, its start, and how it ended.

import { untilEnded } from './awaited';
import { ask, GET, POST } from './client';
import type { Operation, OperationPlan, Work } from './types';

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

/** Returns an operation once it has ended. */
export function ended(operation: Operation): Promise<Operation> {
  const id = operation.operation_id;
  return untilEnded(operation, {
    kind: 'operation',
    id,
    look: () => ask(GET('/api/v1/operations/{operation_id}', { params: { path: { operation_id: id } } })),
    hasEnded: ({ state }) => state !== 'running',
  });
}
