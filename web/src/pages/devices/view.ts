// What the list of devices shows, as the address says it: search, filter and order. Pure.

import { compareVersions, matches, parseSelection, stateOf, type Term } from '../../data/selection';
import { isThere } from '../../data/standing';
import type { Deployment, Device } from '../../data/types';

export const COLUMNS = [
  'name', 'state', 'version', 'platform', 'models', 'cpu', 'memory', 'disk', 'tags', 'seen',
] as const;
export type Column = (typeof COLUMNS)[number];

export interface Order {
  column: Column;
  descending: boolean;
}

export interface View {
  search: string;
  terms: Term[];
  order: Order;
}

/** The deployments of each device. */
export type ByDevice = ReadonlyMap<string, readonly Deployment[]>;

const DEFAULT: Order = { column: 'name', descending: false };
const STATE_ORDER = { offline: 0, updating: 1, online: 2 } as const;

/** Reads the address; what it does not understand has no effect. */
export function viewOf(query: URLSearchParams): View {
  const sort = query.get('sort') ?? '';
  const descending = sort.startsWith('-');
  const column = COLUMNS.find((known) => known === (descending ? sort.slice(1) : sort));
  return {
    search: query.get('q') ?? '',
    terms: parseSelection(query.get('select') ?? ''),
    order: column ? { column, descending } : DEFAULT,
  };
}

/** Returns the order as the address has it; the usual order is left out. */
export function orderWords({ column, descending }: Order): string | null {
  if (column === DEFAULT.column && !descending) return null;
  return (descending ? '-' : '') + column;
}

/** Returns the devices that fit, in order. Devices that are equal by the column are ordered by name and id. */
export function arranged(devices: readonly Device[], { search, terms, order }: View, byDevice: ByDevice): Device[] {
  const words = search.trim().toLowerCase();
  const fitting = devices.filter((device) => matches(terms, device) && contains(device, words));
  const compare = comparison(order.column, byDevice);
  const direction = order.descending ? -1 : 1;
  return fitting.sort(
    (a, b) => direction * (compare(a, b) || byText(nameKey(a), nameKey(b))) || byText(a.device_id, b.device_id),
  );
}

const nameKeys = new WeakMap<Device, string>();

/** Returns a text that orders names as people do: `lab-2` before `lab-10`, without regard to case. */
function nameKey(device: Device): string {
  const known = nameKeys.get(device);
  if (known !== undefined) return known;
  const key = device.name.slice(0, 200).toLowerCase().replace(/\d+/g, (digits) => digits.padStart(16, '0'));
  nameKeys.set(device, key);
  return key;
}

function contains(device: Device, words: string): boolean {
  if (words === '') return true;
  return (
    device.name.toLowerCase().includes(words) ||
    device.device_id.includes(words) ||
    device.platform.hostname.toLowerCase().includes(words) ||
    (device.tags ?? []).some((tag) => tag.toLowerCase().includes(words))
  );
}

function comparison(column: Column, byDevice: ByDevice): (a: Device, b: Device) => number {
  switch (column) {
    case 'name':
      return () => 0;
    case 'state':
      return (a, b) => STATE_ORDER[stateOf(a)] - STATE_ORDER[stateOf(b)];
    case 'version':
      return (a, b) => compareVersions(a.agent_version, b.agent_version);
    case 'platform':
      return (a, b) => byText(platformOf(a), platformOf(b));
    case 'models': {
      const rank = (device: Device): number => {
        const all = byDevice.get(device.device_id) ?? [];
        return all.length + (all.some(({ stale }) => stale) ? 1_000 : 0);
      };
      return (a, b) => rank(a) - rank(b);
    }
    case 'cpu':
      return (a, b) => (a.system?.cpu_percent ?? -1) - (b.system?.cpu_percent ?? -1);
    case 'memory':
      return (a, b) => memoryShare(a) - memoryShare(b);
    case 'disk':
      return (a, b) => diskShare(a) - diskShare(b);
    case 'tags':
      return (a, b) => byText((a.tags ?? []).join(), (b.tags ?? []).join());
    case 'seen':
      return (a, b) => byText(seenAt(a), seenAt(b));
  }
}

/** Orders as the code units do: locale-aware comparison of 10,000 names takes longer than a frame. */
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A device that is online is seen now: the times of its messages are not worth an event each. */
function seenAt({ online, last_seen_at }: Device): string {
  return online ? '9999' : (last_seen_at ?? '');
}

export function platformOf({ platform: { os, arch } }: Device): string {
  return `${os}/${arch}`;
}

/** The used share of the memory, or -1 if the device has not reported it. */
export function memoryShare({ system }: Device): number {
  return system && system.memory.total_bytes > 0 ? system.memory.used_bytes / system.memory.total_bytes : -1;
}

/** The used share of the disk, or -1 if the device has not reported it. */
export function diskShare({ system }: Device): number {
  const disk = system?.disk;
  return disk && disk.total_bytes > 0 ? 1 - disk.free_bytes / disk.total_bytes : -1;
}

/** Groups the deployments of models that are on their devices by device. */
export function groupedByDevice(deployments: readonly Deployment[]): ByDevice {
  const groups = new Map<string, Deployment[]>();
  for (const deployment of deployments.filter(isThere)) {
    const group = groups.get(deployment.device_id);
    if (group) group.push(deployment);
    else groups.set(deployment.device_id, [deployment]);
  }
  return groups;
}
