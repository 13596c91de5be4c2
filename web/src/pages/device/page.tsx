// One device: what it is, its models, its load, its log, its commands.

import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { ask, GET } from '../../data/client';
import { Problem } from '../../data/problem';
import { nameAskedFor, shownTags } from '../../data/device_change';
import { stateOf } from '../../data/selection';
import { devices } from '../../data/store';
import type { Device } from '../../data/types';
import { text } from '../../text';
import { brief, sentence } from '../../text/visible';
import { DeviceBadge } from '../../ui/device_badge';
import { Icon } from '../../ui/icon';
import { Badge, Copied, Empty, Failed, Foreign, Skeleton } from '../../ui/parts';
import { Prose } from '../../ui/prose';
import { path, query } from '../../ui/router';
import { Tags } from '../../ui/tags';
import { useTitle } from '../../ui/title';
import { AgentVersion } from '../../ui/version';
import { About } from './about';
import { Commands } from './commands';
import { Logs } from './logs';
import { Models } from './models';
import { Performance } from './performance';
import { UpdateButton } from './update';

import '../../ui/tabs.css';
import './device.css';

const TABS = ['models', 'performance', 'logs', 'commands', 'about'] as const;
type Tab = (typeof TABS)[number];
/** How many tags the head has, except beside their editor: two lines of them on a phone. */
const MOST_TAGS = 6;

export function DevicePage() {
  const id = decoded(path.value.split('/')[2] ?? '');
  return id === null ? <Missing /> : <OneDevice key={id} id={id} />;
}

/** Returns a part of an address as it is meant, or nothing if it is broken, such as `%`. */
function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

function OneDevice({ id }: { id: string }) {
  const device = useComputed(() => (devices.revision.value, devices.row(id)?.value)).value;
  const failed = useSignal<unknown>(null);
  const asked = useSignal(0);
  const gone = useSignal(false);
  const known = device !== undefined;
  useEffect(() => {
    // A pasted address does not wait for the list of all devices.
    if (known) return;
    ask(GET('/api/v1/devices/{device_id}', { params: { path: { device_id: id } } })).then(
      (loaded) => devices.changed(loaded),
      (error: unknown) => {
        gone.value = error instanceof Problem && (error.status === 404 || error.status === 422);
        failed.value = error;
      },
    );
  }, [id, known, asked.value]);
  if (device) return <Shown device={device} />;
  if (gone.value) return <Missing />;
  if (failed.value !== null) {
    const retry = (): void => {
      failed.value = null;
      asked.value += 1;
    };
    return <Failed alone title={text.device.failedTitle} error={failed.value} retry={retry} />;
  }
  return <Skeleton alone lines={8} />;
}

function Missing() {
  return (
    <Empty alone icon="devices" title={text.device.missingTitle}>
      <p>{text.device.missing}</p>
      <a class="button" href="/devices">
        {text.device.back}
      </a>
    </Empty>
  );
}

function Shown({ device }: { device: Device }) {
  const tab = TABS.find((known) => known === query.value.get('tab')) ?? 'models';
  useTitle(brief(device.name, 80));
  const { last_update: update } = device;
  const tags = shownTags(device)
    .filter(({ pending }) => pending !== 'remove')
    .map(({ tag }) => tag);
  const renaming = nameAskedFor(device.device_id);
  return (
    <div class="page device-page">
      <header class="device-head">
        <a class="back" href="/devices">
          <Icon name="back" />
          {text.device.back}
        </a>
        <div class="title-line">
          <h1>
            <Foreign>{renaming ?? device.name}</Foreign>
          </h1>
          {renaming !== undefined && <Badge tone="busy">{text.about.renaming}</Badge>}
          <span class="visually-hidden" role="status">
            {renaming !== undefined && text.about.renaming}
          </span>
          <DeviceBadge device={device} since />
          <span class="spacer" />
          {stateOf(device) !== 'updating' && <UpdateButton device={device} />}
        </div>
        <p class="facts soft">
          <AgentVersion device={device} />
          <Foreign>{`${device.platform.os}/${device.platform.arch}`}</Foreign>
          <Foreign>{device.platform.hostname}</Foreign>
          <Copied code={device.device_id} label={text.device.copyId} />
        </p>
        {tags.length > 0 && <Tags tags={tags} most={tab === 'about' ? tags.length : MOST_TAGS} all={`${path.value}?tab=about`} />}
        {stateOf(device) === 'updating' && <p class="banner busy">{text.device.updating}</p>}
        {update?.outcome === 'rolled_back' && (
          <p class="banner bad" dir="auto">
            {text.device.rolledBack(brief(update.to), brief(update.from))} {update.reason && <Prose words={sentence(update.reason)} />}
          </p>
        )}
      </header>
      <Tabs tab={tab} />
      <section aria-label={text.device.tab[tab]} class="tab-body">
        {tab === 'models' && <Models device={device} />}
        {tab === 'performance' && <Performance device={device} />}
        {tab === 'logs' && <Logs deviceId={device.device_id} />}
        {tab === 'commands' && <Commands deviceId={device.device_id} />}
        {tab === 'about' && <About device={device} />}
      </section>
    </div>
  );
}

/** The parts of a device are addresses, so they are links: Back and a pasted link give the same part. */
function Tabs({ tab }: { tab: Tab }) {
  return (
    <nav class="tabs" aria-label={text.device.tabs}>
      {TABS.map((one) => (
        <a key={one} href={one === 'models' ? path.value : `${path.value}?tab=${one}`} aria-current={one === tab ? 'page' : undefined}>
          {text.device.tab[one]}
        </a>
      ))}
    </nav>
  );
}
