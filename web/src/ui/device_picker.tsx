// Chooses devices for a deployment.

import { useSignal } from '@preact/signals';

import { devicesFound } from '../data/found_devices';
import { stateOf } from '../data/selection';
import { devices } from '../data/store';
import { text } from '../text';
import { Foreign } from './parts';

const MOST_LISTED = 50;

/** Chooses devices: one by one, or all that a search finds. There is nothing to search in a single one. One that updates cannot be chosen. */
export function DevicePicker({ chosen, choose }: { chosen: ReadonlySet<string>; choose: (next: ReadonlySet<string>) => void }) {
  const words = useSignal('');
  void devices.revision.value;
  const found = devicesFound(devices.all(), words.value);
  const free = found.filter((device) => stateOf(device) !== 'updating');
  if (devices.size === 0) return <p>{text.deploying.noDevice}</p>;
  const several = devices.size > 1;
  const all = free.length > 0 && free.every(({ device_id }) => chosen.has(device_id));
  const toggleAll = (): void => {
    const next = new Set(chosen);
    for (const { device_id: id } of free) {
      if (all) next.delete(id);
      else next.add(id);
    }
    choose(next);
  };
  const toggle = (id: string): void => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    choose(next);
  };
  return (
    <fieldset class="picker">
      <legend>
        {text.deploying.devices} <span class="soft small" role="status">{text.deploying.chosen(chosen.size)}</span>
      </legend>
      {several && (
        <>
          <input
            type="search"
            aria-label={text.deploying.searchDevices}
            placeholder={text.deploying.searchDevices}
            autocomplete="off"
            spellcheck={false}
            value={words}
            onInput={(event) => (words.value = event.currentTarget.value)}
          />
          <label class="check-line">
            <input type="checkbox" checked={all} onChange={toggleAll} disabled={free.length === 0} />
            {text.deploying.all(free.length)}
          </label>
        </>
      )}
      <ul>
        {found.slice(0, MOST_LISTED).map((device) => {
          const { device_id: id, name } = device;
          const state = stateOf(device);
          return (
            <li key={id}>
              <label class="check-line">
                <input type="checkbox" checked={chosen.has(id)} disabled={state === 'updating' && !chosen.has(id)} onChange={() => toggle(id)} />
                <Foreign>{name}</Foreign>
                {state === 'offline' && <span class="soft small">{text.bulk.offline}</span>}
                {state === 'updating' && <span class="soft small">{text.state.updating}</span>}
              </label>
            </li>
          );
        })}
      </ul>
      {found.length > MOST_LISTED && <p class="soft small">{text.deploying.more(found.length - MOST_LISTED)}</p>}
    </fieldset>
  );
}
