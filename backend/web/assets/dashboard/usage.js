// How busy a device is, as a few short lines.

import { element } from '../shared/dom.js';
import { ago, bytes } from '../shared/format.js';

/** A sample that is older than this, in milliseconds, is shown with its age. */
const FRESH = 120_000;

/** Returns a device's sample with its age in words instead of its time. */
export function sample(device, now = Date.now()) {
  if (!device.system) return null;
  const { reported_at: at, ...system } = device.system;
  const fresh = device.online && now - Date.parse(at) < FRESH;
  return { ...system, age: fresh ? '' : ago(at, now) };
}

/** Returns the cell of a device; `models` gives the engines their names. */
export function usage(system, models) {
  if (!system) return null;
  const { memory, disk, gpus, engines, age } = system;
  const lines = [
    `Memory ${share(memory.used_bytes, memory.total_bytes)}`,
    disk ? `Disk ${bytes(disk.free_bytes)} free` : null,
    ...gpus.map(gpu),
    ...engines.map((engine) => running(engine, models)),
    age ? `sampled ${age}` : null,
  ];
  const processor = joined([`CPU ${percent(system.cpu_percent)}`, celsius(system.temperature_celsius)]);
  return [
    element('span', {}, processor),
    ...lines.filter(Boolean).map((line) => element('span', { class: 'sub' }, line)),
  ];
}

function gpu(one) {
  const { utilisation_percent: busy, memory_used_bytes: used, memory_total_bytes: total } = one;
  const told = joined([
    busy === undefined ? null : percent(busy),
    total === undefined ? null : used === undefined ? bytes(total) : share(used, total),
    celsius(one.temperature_celsius),
  ]);
  return told ? `${one.name}: ${told}` : one.name;
}

function running(engine, models) {
  const model = models.find((other) => other.model_id === engine.model_id);
  return `${model?.name ?? engine.model_id}: ${bytes(engine.memory_bytes)}, CPU ${percent(engine.cpu_percent)}`;
}

function share(used, total) {
  return `${bytes(used)} of ${bytes(total)}`;
}

function percent(number) {
  return `${Math.round(number)} %`;
}

function celsius(degrees) {
  return degrees === undefined ? null : `${Math.round(degrees)} °C`;
}

function joined(parts) {
  return parts.filter(Boolean).join(', ');
}
