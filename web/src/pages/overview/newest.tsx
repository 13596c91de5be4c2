// The newest events of the account: commands with what became of them, and devices that came or went away.

import { useComputed } from '@preact/signals';

import { deviceName, modelName } from '../../data/names';
import { recent, RECENT } from '../../data/operator';
import { devices, devicesLoading, reload, together } from '../../data/store';
import { text } from '../../text';
import { CommandBadge } from '../../ui/command_badge';
import { Badge, Foreign, Outdated, Skeleton, Time } from '../../ui/parts';
import { newestOf, type Happened } from './happened';

export function Newest() {
  const { rows, loading } = recent;
  const shown = useComputed(() => {
    void [rows.revision.value, devices.revision.value];
    return newestOf(rows.all(), devices.all(), RECENT);
  }).value;
  const { state, error } = together([loading.value, devicesLoading.value]);
  return (
    <section class="card">
      <h2>{text.overviewPage.newest}</h2>
      {state === 'failed' && <Outdated title={text.overviewPage.eventsFailed} error={error} retry={() => void reload()} />}
      {shown.length === 0 && state === 'ready' && <p class="soft">{text.overviewPage.noEvents}</p>}
      {shown.length === 0 && (state === 'idle' || state === 'loading') && <Skeleton lines={4} />}
      <ul class="event-list">
        {shown.map((happened) => (
          <Event key={keyOf(happened)} happened={happened} />
        ))}
      </ul>
    </section>
  );
}

function Event({ happened }: { happened: Happened }) {
  const when = (
    <span class="soft small event-when">
      <Time at={happened.at} />
    </span>
  );
  if (happened.kind === 'command') {
    const { command } = happened;
    return (
      <li>
        <span class="event-what">
          <a href={`/devices/${command.device_id}?tab=commands`}>{text.commands.kinds[command.type]}</a>
          <span class="soft">
            {command.model_id && <Foreign>{modelName(command.model_id)}</Foreign>} <Foreign>{deviceName(command.device_id)}</Foreign>
          </span>
        </span>
        <CommandBadge command={command} />
        {when}
      </li>
    );
  }
  const { kind, device } = happened;
  return (
    <li>
      <span class="event-what">
        <a href={`/devices/${device.device_id}`}>
          <Foreign>{device.name}</Foreign>
        </a>
      </span>
      <Badge tone={kind === 'offline' ? 'bad' : 'good'}>{text.overviewPage.became[kind]}</Badge>
      {when}
    </li>
  );
}

function keyOf(happened: Happened): string {
  return happened.kind === 'command' ? happened.command.command_id : `${happened.kind} ${happened.device.device_id}`;
}
