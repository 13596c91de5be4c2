// What the queue of repairs shows, as the address says it, and which expired repairs are worth another one. Pure.

import { parseSelection, type Term } from '../../data/selection';
import type { Command } from '../../data/types';
import { byText } from '../../text/collation';

export const REPAIR_STATUSES = ['sent', 'processed', 'expired', 'failed', 'succeeded', 'superseded'] as const;
export type RepairStatus = (typeof REPAIR_STATUSES)[number];

export interface View {
  search: string;
  status: RepairStatus | null;
  model: string;
  device: string;
  /** The terms of the selection of devices. */
  terms: Term[];
}

type Filters = Pick<View, 'search' | 'model' | 'device'>;

export interface Named {
  command: Command;
  model: string;
  device: string;
}

/** Reads the address; what it does not understand has no effect. */
export function viewOf(query: URLSearchParams): View {
  return {
    search: query.get('q') ?? '',
    status: REPAIR_STATUSES.find((known) => known === query.get('state')) ?? null,
    model: query.get('model_id') ?? '',
    device: query.get('device_id') ?? '',
    terms: parseSelection(query.get('select') ?? ''),
  };
}

/** Returns what became of a repair: until the device has reported, where the command is. */
export function repairStatus({ state, result }: Command): RepairStatus {
  switch (result?.status) {
    case undefined:
      return state;
    case 'succeeded':
      return 'succeeded';
    case 'superseded':
    case 'cancelled':
      return 'superseded';
    case 'failed':
    case 'rejected':
      return 'failed';
  }
}

/** Returns the repairs that fit all filters but that of the state, newest first. `on` are the selected devices. */
export function fitting(all: readonly Named[], { search, model, device }: Filters, on: ReadonlySet<string> | null): Named[] {
  const words = search.trim().toLowerCase();
  return all
    .filter(
      ({ command, model: modelName, device: deviceName }) =>
        (model === '' || command.model_id === model) &&
        (device === '' || command.device_id === device) &&
        (on === null || on.has(command.device_id)) &&
        (words === '' || modelName.toLowerCase().includes(words) || deviceName.toLowerCase().includes(words)),
    )
    .sort((a, b) => newestFirst(a.command, b.command));
}

/** Returns the ids of the repairs after which no other repair of the model on its device was sent: each speaks for its model there. */
export function newestOf(all: readonly Command[]): ReadonlySet<string> {
  const found = new Map<string, Command>();
  for (const command of all) {
    const place = `${command.model_id ?? ''} ${command.device_id}`;
    const other = found.get(place);
    if (!other || newestFirst(command, other) < 0) found.set(place, command);
  }
  return new Set([...found.values()].map(({ command_id }) => command_id));
}

/** Returns the expired repairs after which no other repair of the model on its device was sent. */
export function worthRetrying(all: readonly Command[]): Command[] {
  const newest = newestOf(all);
  return all.filter((command) => newest.has(command.command_id) && repairStatus(command) === 'expired');
}

/** Returns the time until a repair expires in milliseconds, or nothing if that does not matter any more. */
export function timeLeft(command: Command, now: number): number | null {
  return repairStatus(command) === 'sent' ? Math.max(0, Date.parse(command.expires_at) - now) : null;
}

function newestFirst(a: Command, b: Command): number {
  return byText(b.created_at, a.created_at) || byText(a.command_id, b.command_id);
}
