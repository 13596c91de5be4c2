// What needs a person: each thing in a sentence, with the list behind it and what mends it.

import { useComputed } from '@preact/signals';

import { may } from '../../data/permission';
import { matches, parseSelection } from '../../data/selection';
import { hasStatus } from '../../data/deployment_status';
import { deployments, deploymentsLoading, devices, devicesLoading, reload, together } from '../../data/store';
import type { Device, Summary } from '../../data/types';
import { text } from '../../text';
import { byText } from '../../text/collation';
import { Icon, type IconName } from '../../ui/icon';
import { Foreign, Outdated } from '../../ui/parts';
import { StaleBanner } from '../deployments/bulk';

import '../deployments/deployments.css';

/** The selections of devices that need a person: the summary counts them, and the list behind a point shows them. */
const ROLLED_BACK = 'update=rolled_back';
const NEARLY_FULL = 'disk>=90';
const MOST_NAMED = 4;

interface Point {
  words: string;
  href: string;
  icon: IconName;
  tone: 'bad' | 'warn';
  devices?: readonly Device[];
}

export function Attention({ current }: { current: Summary }) {
  const stale = useComputed(() => {
    void deployments.revision.value;
    return deployments.all().filter((one) => hasStatus(one, 'stale'));
  }).value;
  const all = useComputed(() => (devices.revision.value, devices.all())).value;
  const { state, error } = together([devicesLoading.value, deploymentsLoading.value]);
  const isKnown = state === 'ready' || state === 'refreshing';
  // A part of the devices is not named as if it were all.
  const points = pointsOf(current, isKnown ? all : []);
  // What can be repaired now is fewer than what the backend counts: a deployment that is under way may be stale too.
  const needing = isKnown ? stale.length : current.deployments.stale;
  if (points.length === 0 && needing === 0 && state !== 'failed') {
    return (
      <p class="all-well" role="status">
        <Icon name="check" />
        {text.overviewPage.well}
      </p>
    );
  }
  return (
    <section aria-label={text.overviewPage.needs} class="attention">
      {state === 'failed' && <Outdated title={text.overviewPage.listsFailed} error={error} retry={() => void reload()} />}
      {needing > 0 && (
        <div data-point="stale">
          <StaleBanner stale={stale} {...(!isKnown && { counted: current.deployments.stale })} />
        </div>
      )}
      {points.length > 0 && (
        <ul class="points">
          {points.map(({ words, href, icon, tone, devices: named = [] }) => (
            <li key={href + icon} class={tone}>
              <Icon name={icon} />
              <p>
                {words}{' '}
                {named.slice(0, MOST_NAMED).map((device) => (
                  <a key={device.device_id} class="named" href={`/devices/${device.device_id}`}>
                    <Foreign>{device.name}</Foreign>
                  </a>
                ))}
                {named.length > MOST_NAMED && <a href={href}>{text.bulk.andMore(named.length - MOST_NAMED)}</a>}
              </p>
              <a class="button" href={href} aria-label={text.overviewPage.showWhat(words)}>
                {text.overviewPage.show}
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function pointsOf({ devices: counts, deployments: deployed, keys, models }: Summary, all: readonly Device[]): Point[] {
  const words = text.overviewPage;
  const failed = deployed.failed + deployed.unserved;
  // Who went away last is missed most.
  const offline = all.filter(({ online }) => !online).sort((a, b) => byText(b.last_seen_at ?? '', a.last_seen_at ?? ''));
  const back = all.filter((device) => matches(parseSelection(ROLLED_BACK), device));
  const full = all.filter((device) => matches(parseSelection(NEARLY_FULL), device));
  const points: (Point & { count: number })[] = [
    { count: counts.offline, words: words.offline(counts.offline), href: '/devices?select=state%3Doffline', icon: 'devices', tone: 'bad', devices: offline },
    { count: failed, words: words.failed(failed), href: '/deployments?state=failed', icon: 'rocket', tone: 'bad' },
    { count: counts.rolled_back, words: words.rolledBack(counts.rolled_back), href: `/devices?select=${encodeURIComponent(ROLLED_BACK)}`, icon: 'undo', tone: 'bad', devices: back },
    { count: counts.nearly_full, words: words.full(counts.nearly_full), href: `/devices?select=${encodeURIComponent(NEARLY_FULL)}&sort=-disk`, icon: 'disk', tone: 'warn', devices: full },
    { count: models.incomplete, words: words.incomplete(models.incomplete), href: '/models?state=incomplete', icon: 'box', tone: 'warn' },
    { count: may('keys:read') ? keys.ending_within_week : 0, words: words.keys(keys.ending_within_week), href: '/keys?show=soon', icon: 'key', tone: 'warn' },
  ];
  return points.filter(({ count }) => count > 0);
}
