// Deploy to the selected devices, repair what is stale on them, or remove them. Each has a preview of what it touches.

import { useSignal, type Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

import { removeDevice } from '../../data/actions';
import { controllable, leftOut } from '../../data/controllable';
import { may } from '../../data/permission';
import { hasStatus, isThere } from '../../data/deployment_status';
import { deployments } from '../../data/store';
import type { Deployment, Device } from '../../data/types';
import { text } from '../../text';
import { Confirm } from '../../ui/dialog';
import { useLost } from '../../ui/lost';
import { notice } from '../../ui/notices';
import { onDemand } from '../../ui/on_demand';
import { Progress, useOneByOne } from '../../ui/one_by_one';
import { Foreign } from '../../ui/parts';
import { RemedyDialog } from '../deployments/bulk';

const MOST_SHOWN = 8;
const DeployDialog = onDemand(async () => (await import('../../ui/deploy')).DeployDialog);

export type MoreKind = 'deploy' | 'repair' | 'remove';
/** The permission for each dialog. */
const NEEDS = { deploy: 'deployments:write', repair: 'serving:operate', remove: 'devices:write' } as const;

interface Props {
  /** Which dialog is open. */
  kind: Signal<MoreKind | null>;
  devices: readonly Device[];
  unselect: () => void;
  /** What stands before the removal, which comes last. */
  children: ComponentChildren;
}

export function MoreActions({ kind, devices, unselect, children }: Props) {
  // The devices that were ticked when the dialog was opened, and no others.
  const targets = useRef<readonly Device[]>([]);
  const stale = useRef<readonly Deployment[]>([]);
  const left = useRef(0);
  const close = (): void => {
    kind.value = null;
  };
  useLost(kind.value === null || may(NEEDS[kind.value]), close);
  const open = (wanted: MoreKind): void => {
    targets.current = wanted === 'deploy' ? controllable(devices) : devices;
    left.current = devices.length - targets.current.length;
    if (targets.current.length === 0) {
      notice(text.deployed.updating);
      return;
    }
    if (wanted === 'repair') {
      const ids = new Set(devices.map(({ device_id }) => device_id));
      const all = deployments.all().filter((one) => ids.has(one.device_id) && isThere(one) && hasStatus(one, 'stale'));
      stale.current = controllable(all);
      left.current = leftOut(all);
      if (stale.current.length === 0) {
        notice(all.length > 0 ? text.deployed.updating : text.bulkMore.nothingToRepair);
        return;
      }
    }
    kind.value = wanted;
  };
  return (
    <>
      {may(NEEDS.deploy) && (
        <button type="button" class="button" onClick={() => open('deploy')}>
          {text.bulkMore.deploy}
        </button>
      )}
      {may(NEEDS.repair) && (
        <button type="button" class="button" onClick={() => open('repair')}>
          {text.bulkMore.repair}
        </button>
      )}
      {children}
      {may(NEEDS.remove) && (
        <button type="button" class="button danger" onClick={() => open('remove')}>
          {text.bulkMore.remove}
        </button>
      )}
      {kind.value === 'deploy' && <DeployDialog targets={targets.current.map(({ device_id }) => device_id)} left={left.current} close={close} />}
      {kind.value === 'repair' && <RemedyDialog kind="repair" targets={stale.current} left={left.current} close={close} />}
      {kind.value === 'remove' && <RemoveDevices targets={targets.current} close={close} unselect={unselect} />}
    </>
  );
}

/** Removes devices one after the other: the backend has no operation for it. */
function RemoveDevices({ targets, close, unselect }: { targets: readonly Device[]; close: () => void; unselect: () => void }) {
  const typed = useSignal('');
  const words = text.bulkMore;
  const wanted = words.typed(targets.length);
  const ids = new Set(targets.map(({ device_id }) => device_id));
  const lost = deployments.all().filter((one) => ids.has(one.device_id) && isThere(one)).length;
  const { tried, run } = useOneByOne([...ids], removeDevice, ({ done, failed, why, left, closed }) => {
    if (done > 0) notice(words.removed(done));
    if (failed > 0) notice(words.notRemoved(failed, why), 'bad');
    if (left > 0) notice(words.notTried(left), 'bad');
    if (closed) return;
    close();
    unselect();
  });
  return (
    <Confirm title={words.removeTitle} action={words.removeRun(targets.length)} close={close} ready={typed.value.trim() === wanted && tried.value === null} act={run}>
      <p>{words.removeWhy(targets.length, lost)}</p>
      <ul>
        {targets.slice(0, MOST_SHOWN).map(({ device_id: id, name }) => (
          <li key={id}>
            <Foreign>{name}</Foreign>
          </li>
        ))}
      </ul>
      {targets.length > MOST_SHOWN && <p class="soft small">{text.bulk.andMore(targets.length - MOST_SHOWN)}</p>}
      <div class="field">
        <label for="remove-devices">{text.many.type(wanted)}</label>
        <input id="remove-devices" autofocus autocomplete="off" spellcheck={false} value={typed} onInput={(event) => (typed.value = event.currentTarget.value)} />
      </div>
      <Progress tried={tried} all={ids.size} />
    </Confirm>
  );
}
