// Which device answers on each port of this computer. Models of two devices can have the same name and port, and the page
// reaches only those of this computer: each answer names its device.

import { signal } from '@preact/signals';

import type { Target } from './targets';

const HEADER = 'link-device';
/** How long a port may take to name its device, in milliseconds. */
const PATIENCE = 3_000;
/** How many ports are asked. */
const MOST = 8;

/** The device of each port that has named one. */
export const answering = signal<ReadonlyMap<number, string>>(new Map());

/** Takes the device that an answer names, and returns it. Agents of earlier versions name none, and are believed. */
export function noticed(port: number, answer: Response): string | null {
  const device = answer.headers.get(HEADER);
  know(port, device);
  return device;
}

function know(port: number, device: string | null): void {
  const known = answering.peek();
  if ((known.get(port) ?? null) === device) return;
  const others = [...known].filter(([other]) => other !== port);
  answering.value = new Map(device === null ? others : [...others, [port, device]]);
}

/** Returns the ports on which models of several devices would be asked, so that the device behind each matters. */
export function doubtfulPorts(targets: readonly Target[]): number[] {
  const devices = new Map<number, Set<string>>();
  for (const { port, deviceId } of targets) devices.set(port, (devices.get(port) ?? new Set()).add(deviceId));
  return [...devices].filter(([, on]) => on.size > 1).map(([port]) => port).sort((a, b) => a - b).slice(0, MOST);
}

/**
 * Asks ports of this computer which device is behind them, those that have named one before included. A port that does not
 * answer, or not to this page, is unknown.
 */
export async function learn(ports: readonly number[]): Promise<void> {
  await Promise.all([...new Set([...ports, ...answering.peek().keys()])].map(ask));
}

async function ask(port: number): Promise<void> {
  const options = { cache: 'no-store', credentials: 'omit', signal: AbortSignal.timeout(PATIENCE) } as const;
  const answer = await fetch(`http://127.0.0.1:${port}/v1/models`, options).catch(() => null);
  if (!answer) return know(port, null);
  noticed(port, answer);
  await answer.body?.cancel();
}
