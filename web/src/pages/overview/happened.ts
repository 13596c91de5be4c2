// What has happened last: commands, devices that registered, and devices that went away. Pure.

import { stateOf } from '../../data/selection';
import type { Command, Device } from '../../data/types';
import { byText } from '../../text/collation';

/** One thing that happened, `at` a time as the API writes it. A device went away when it was last seen. */
export type Happened =
  | { kind: 'command'; at: string; command: Command }
  | { kind: 'registered' | 'offline'; at: string; device: Device };

/** Returns the newest `most` events, newest first. `commands` are at least the newest `most` commands. */
export function newestOf(commands: readonly Command[], devices: readonly Device[], most: number): Happened[] {
  const events: Happened[] = commands.map((command) => ({ kind: 'command', at: command.created_at, command }));
  const newest = (kind: 'registered' | 'offline', timeOf: (device: Device) => string | null): void => {
    events.push(...latest(devices, timeOf, most).map(({ at, device }) => ({ kind, at, device })));
  };
  newest('registered', ({ registered_at }) => registered_at);
  newest('offline', (device) => (stateOf(device) === 'offline' ? (device.last_seen_at ?? null) : null));
  return events.sort((a, b) => byText(b.at, a.at)).slice(0, most);
}

/** A device and the time of what happened to it. */
interface Dated {
  at: string;
  device: Device;
}

/** Returns the devices with the latest times, in one pass that sorts only what may be among them. */
function latest(devices: readonly Device[], timeOf: (device: Device) => string | null, most: number): Dated[] {
  let kept: Dated[] = [];
  let least = '';
  for (const device of devices) {
    const at = timeOf(device);
    if (at === null || at <= least) continue;
    kept.push({ at, device });
    if (kept.length < 2 * most) continue;
    kept = kept.sort((a, b) => byText(b.at, a.at)).slice(0, most);
    least = kept[most - 1]?.at ?? '';
  }
  return kept;
}
