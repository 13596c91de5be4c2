// What the list of deployments shows, as the address says it: search, filters and order. Pure.

import { parseSelection, type Term } from '../../data/selection';
import { DEPLOYMENT_STATUSES, hasStatus, statusOf, type DeploymentStatus } from '../../data/deployment_status';
import type { Deployment } from '../../data/types';
import { orderOf, type Order } from '../../ui/order';
import { byText, nameKey } from '../../text/collation';

export const COLUMNS = ['standing', 'model', 'device', 'port', 'updated', 'actions'] as const;
export const SORTABLE = ['standing', 'model', 'device', 'port', 'updated'];
export const USUAL: Order = { column: 'standing', descending: false };

export interface View {
  search: string;
  status: DeploymentStatus | null;
  model: string;
  device: string;
  /** The terms of the selection of devices. */
  terms: Term[];
  order: Order;
}

type Filters = Pick<View, 'search' | 'model' | 'device'>;

export interface Named {
  deployment: Deployment;
  model: string;
  device: string;
}

/** Reads the address; what it does not understand has no effect. */
export function viewOf(query: URLSearchParams): View {
  return {
    search: query.get('q') ?? '',
    status: DEPLOYMENT_STATUSES.find((known) => known === query.get('state')) ?? null,
    model: query.get('model_id') ?? '',
    device: query.get('device_id') ?? '',
    terms: parseSelection(query.get('select') ?? ''),
    order: orderOf(query.get('sort'), SORTABLE, USUAL),
  };
}

/** Returns the deployments that fit all filters but that of the state: the chips count these. `on` are the selected devices. */
export function fitting(all: readonly Named[], { search, model, device }: Filters, on: ReadonlySet<string> | null): Named[] {
  const words = search.trim().toLowerCase();
  return all.filter(
    (one) =>
      (model === '' || one.deployment.model_id === model) &&
      (device === '' || one.deployment.device_id === device) &&
      (on === null || on.has(one.deployment.device_id)) &&
      (words === '' || contains(one, words)),
  );
}

/** Returns the deployments of a state, or all, in order: what needs a person first, unless another column is chosen. */
export function arranged(found: readonly Named[], { status, order }: Pick<View, 'status' | 'order'>): Named[] {
  const shown = status === null ? [...found] : found.filter(({ deployment }) => hasStatus(deployment, status));
  const direction = order.descending ? -1 : 1;
  const compare = comparison(order.column);
  return shown
    .map((one) => ({ one, keys: keysOf(one) }))
    .sort(
      (a, b) =>
        direction * compare(a, b) ||
        byText(a.keys.device, b.keys.device) ||
        byText(a.keys.model, b.keys.model) ||
        byText(a.one.deployment.deployment_id, b.one.deployment.deployment_id),
    )
    .map(({ one }) => one);
}

interface Keyed {
  one: Named;
  keys: { rank: number; model: string; device: string };
}

function keysOf({ deployment, model, device }: Named): Keyed['keys'] {
  return { rank: DEPLOYMENT_STATUSES.indexOf(statusOf(deployment)), model: nameKey(model), device: nameKey(device) };
}

function comparison(column: string): (a: Keyed, b: Keyed) => number {
  switch (column) {
    case 'model':
      return (a, b) => byText(a.keys.model, b.keys.model);
    case 'device':
      return (a, b) => byText(a.keys.device, b.keys.device);
    case 'port':
      return (a, b) => portOf(a.one.deployment) - portOf(b.one.deployment);
    case 'updated':
      return (a, b) => byText(a.one.deployment.updated_at, b.one.deployment.updated_at);
    default:
      return (a, b) => a.keys.rank - b.keys.rank;
  }
}

export function portOf({ serving, port }: Deployment): number {
  return serving?.port ?? port;
}

function contains({ deployment, model, device }: Named, words: string): boolean {
  return (
    model.toLowerCase().includes(words) ||
    device.toLowerCase().includes(words) ||
    deployment.alias.includes(words) ||
    deployment.device_id.includes(words) ||
    deployment.model_id.includes(words)
  );
}
