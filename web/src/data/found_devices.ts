// The devices that somebody looks for by typing. Pure.

import { byText, nameKey } from '../text/collation';
import type { Device } from './types';

/** Returns the devices whose name, id or tag contains what was typed, ordered by name. A device of exactly that name comes first. */
export function devicesFound(all: readonly Device[], typed: string): Device[] {
  const wanted = typed.trim().toLowerCase();
  const isNamed = ({ name }: Device): boolean => name.toLowerCase() === wanted;
  return all
    .filter(({ name, device_id: id, tags }) => wanted === '' || [name, id, ...(tags ?? [])].some((words) => words.toLowerCase().includes(wanted)))
    .map((device) => [nameKey(device.name), device] as const)
    .sort(([a, x], [b, y]) => Number(isNamed(y)) - Number(isNamed(x)) || byText(a, b))
    .map(([, device]) => device);
}
