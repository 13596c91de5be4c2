// The devices that came with the keys of this page, each with its steps: key used, online, first model.

import { useComputed } from '@preact/signals';

import { keys } from '../../data/account';
import { deployments, devices } from '../../data/store';
import type { Device, Key } from '../../data/types';
import { text } from '../../text';
import { Icon } from '../../ui/icon';
import { Badge, Foreign, Time } from '../../ui/parts';

export function Arrivals({ made }: { made: readonly Key[] }) {
  const first = made.at(-1);
  const came = useComputed(() => (devices.revision.value, arrived(devices.all(), first))).value;
  const withModel = useComputed(() => {
    void deployments.revision.value;
    return new Set(deployments.all().filter(({ state }) => state === 'completed').map(({ device_id }) => device_id));
  }).value;
  const used = useComputed(() => {
    void keys.rows.revision.value;
    return made.reduce((count, { key_id }) => count + (keys.rows.row(key_id)?.value.devices ?? 0), 0);
  }).value;
  return (
    <section class="arrivals" aria-labelledby="arrivals-title">
      <h2 id="arrivals-title">{text.add.waiting}</h2>
      <div role="status">
        {made.length === 0 && <p class="soft">{text.add.waitingNone}</p>}
        {made.length > 0 && used > came.length && <p>{text.add.again}</p>}
        {made.length > 0 && used === 0 && came.length === 0 && <Badge tone="busy">{text.add.waitingFor}</Badge>}
      </div>
      <ul aria-live="polite">
        {came.map((device) => (
          <Arrival key={device.device_id} device={device} hasModel={withModel.has(device.device_id)} />
        ))}
      </ul>
    </section>
  );
}

function Arrival({ device, hasModel }: { device: Device; hasModel: boolean }) {
  const steps = [
    [text.add.steps.used, true],
    [text.add.steps.online, device.online],
    [text.add.steps.model, hasModel],
  ] as const;
  return (
    <li class="card arrival" data-device={device.device_id}>
      <div class="arrival-name">
        <a href={`/devices/${device.device_id}`}>
          <Foreign>{device.name}</Foreign>
        </a>
        <span class="soft small" aria-live="off">
          <Time at={device.registered_at} />
        </span>
      </div>
      <ol class="steps">
        {steps.map(([name, done]) => (
          <li key={name} class={done ? 'step done' : 'step'}>
            <Icon name={done ? 'check' : 'plus'} />
            {name}
            <span class="visually-hidden">: {done ? text.add.stepDone : text.add.stepOpen}</span>
          </li>
        ))}
      </ol>
      {device.online && !hasModel && (
        <a class="button" href={`/devices/${device.device_id}`}>
          {text.add.deploy}
        </a>
      )}
    </li>
  );
}

/** Returns the devices that registered since the first key of the page was made, by the backend's clock, newest first. */
function arrived(all: readonly Device[], first: Key | undefined): Device[] {
  if (!first) return [];
  const since = Date.parse(first.created_at);
  const came = all.filter(({ registered_at }) => Date.parse(registered_at) >= since);
  return came.sort((a, b) => Date.parse(b.registered_at) - Date.parse(a.registered_at));
}
