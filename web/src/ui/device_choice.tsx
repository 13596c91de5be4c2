// A menu that chooses the one device whose rows a list shows: what is typed is part of its name, a tag or its id.

import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';

import { devicesFound } from '../data/found_devices';
import { devices } from '../data/store';
import { text } from '../text';
import { brief } from '../text/visible';
import { Menu } from './menu';
import { Foreign } from './parts';

const MOST_OFFERED = 8;

export function DeviceChoice({ choose }: { choose: (id: string) => void }) {
  return (
    <Menu
      icon="devices"
      label={text.list.oneDevice}
      body={(close) => (
        <Found
          take={(id) => {
            close();
            choose(id);
          }}
        />
      )}
    />
  );
}

function Found({ take }: { take: (id: string) => void }) {
  const words = useSignal('');
  // Of ten thousand devices, those that are added while the panel is open are found by the next letter.
  const found = useMemo(() => devicesFound(devices.all(), words.value), [words.value]);
  const first = found[0];
  const sent = (event: SubmitEvent): void => {
    event.preventDefault();
    if (first) take(first.device_id);
  };
  return (
    <>
      <form class="term-field" onSubmit={sent}>
        <input
          type="search"
          aria-label={text.list.searchDevices}
          placeholder={text.list.searchDevices}
          autocomplete="off"
          spellcheck={false}
          value={words}
          onInput={(event) => (words.value = event.currentTarget.value)}
        />
      </form>
      {found.length === 0 && <p class="soft small" role="status">{text.devices.noMatchTitle}</p>}
      <fieldset aria-label={text.list.oneDevice}>
        {found.slice(0, MOST_OFFERED).map(({ device_id: id, name }) => (
          <Offer key={id} id={id} isNamesake={found.some((other) => other.device_id !== id && other.name === name)} take={take} />
        ))}
      </fieldset>
      {found.length > MOST_OFFERED && <p class="soft small">{text.list.moreDevices(found.length - MOST_OFFERED)}</p>}
    </>
  );
}

function Offer({ id, isNamesake, take }: { id: string; isNamesake: boolean; take: (id: string) => void }) {
  const device = devices.row(id)?.value;
  if (!device) return null;
  return (
    <button type="button" onClick={() => take(id)}>
      <Foreign>{brief(device.name)}</Foreign>{' '}
      {isNamesake && <Foreign class="soft small number">{id.slice(-8)}</Foreign>}{' '}
      {!device.online && <span class="soft small">{text.bulk.offline}</span>}
    </button>
  );
}
