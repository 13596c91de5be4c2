// The devices that came with the keys of this page, each with its steps: key used, online, first model.

import { useComputed } from '@preact/signals';

import { keys } from '../../data/account';
import { deployments, devices } from '../../data/store';
import type { Device } from '../../data/types';
import { text } from '../../text';
import { Icon } from '../../ui/icon';
import { Badge, Foreign, Time } from '../../ui/parts';
import { madeKeys } from './made';

export function Arrivals() {
  const made = useComputed(madeKeys).value;
  const came = useComputed(() => (devices.revision.value, arrived(devices.all(), madeKeys()))).value;
  const withModel = useComputed(() => {
    void deployments.revision.value;
    return new Set(deployments.all().filter(({ state }) => state === 'completed').map(({ device_id }) => device_id));
  }).value;
  return (
    <section class="arrivals" aria-labelledby="arrivals-title">
      <h2 id="arrivals-title">{text.add.waiting}</h2>
      <div role="status">
        {made.length === 0 && <p class="soft">{text.add.waitingNone}</p>}
        {came.some(wasKnown) && <p>{text.add.again}</p>}
        {made.length > 0 && came.length === 0 && <Badge tone="busy">{text.add.waitingFor}</Badge>}
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

/** Returns the devices that registered with one of the keys, newest first. */
function arrived(all: readonly Device[], made: readonly string[]): Device[] {
  const came = all.filter(({ key_id }) => key_id != null && made.includes(key_id));
  return came.sort((a, b) => Date.parse(b.registered_at) - Date.parse(a.registered_at));
}

/** Whether a device was registered before the key was made that it has registered with again. */
function wasKnown({ key_id: used, registered_at: registered }: Device): boolean {
  const key = used == null ? undefined : keys.rows.row(used)?.value;
  return key !== undefined && Date.parse(registered) < Date.parse(key.created_at);
}
