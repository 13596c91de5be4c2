// What is done to several deployments: each action has a preview of what it touches.

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';

import { servesAgain } from '../../data/actions';
import { ask, POST } from '../../data/client';
import { controllable, leftOut } from '../../data/controllable';
import { modelName } from '../../data/names';
import { may } from '../../data/permission';
import { hasStatus } from '../../data/deployment_status';
import { devices } from '../../data/store';
import type { Deployment } from '../../data/types';
import { text } from '../../text';
import { Dialog } from '../../ui/dialog';
import { Icon } from '../../ui/icon';
import { useLost } from '../../ui/lost';
import { ManyDialog, partsOf, type Part } from '../../ui/many';
import { notice } from '../../ui/notices';
import { Progress, useOneByOne } from '../../ui/one_by_one';
import { Foreign } from '../../ui/parts';

export type ManyKind = 'repair' | 'redeploy';
const MOST_SHOWN = 8;

interface RemedyProps {
  kind: ManyKind;
  targets: readonly Deployment[];
  /** How many more were meant, whose devices are updating. */
  left: number;
  close: () => void;
}

/** The preview of a repair or a redeployment of deployments, by model. */
export function RemedyDialog({ kind, targets, left, close }: RemedyProps) {
  useLost(may(kind === 'repair' ? 'serving:operate' : 'deployments:write'), close);
  const nameOf = (model: string): string => modelName(model, targets.find(({ model_id }) => model_id === model)?.alias);
  const redeployed = (serve: boolean): Part[] => {
    const parts = partsOf(targets.filter((target) => servesAgain(target) === serve), nameOf, (model) => ({ kind: 'deploy', model_id: model, serve }));
    return serve ? parts : parts.map((part) => ({ ...part, note: text.deployed.staysStopped }));
  };
  const parts =
    kind === 'repair'
      ? partsOf(targets, nameOf, (model) => ({ kind: 'repair', model_id: model }))
      : [...redeployed(true), ...redeployed(false)];
  const words = text.deployed;
  return (
    <ManyDialog
      title={kind === 'repair' ? words.repairTitle : words.redeployTitle}
      why={kind === 'repair' ? words.repairWhy : words.redeployWhy}
      action={kind === 'repair' ? words.repairRun : words.redeployRun}
      parts={parts}
      left={left}
      close={close}
    />
  );
}

/** Says how many deployments are stale and offers to repair or redeploy them. Stays while its dialog is open. Until all are loaded it
 * shows `counted` and hides the actions. */
export function StaleBanner({ stale, counted }: { stale: readonly Deployment[]; counted?: number }) {
  const kind = useSignal<ManyKind | null>(null);
  const targets = useRef<readonly Deployment[]>([]);
  const left = useRef(0);
  const open = (wanted: ManyKind): void => {
    targets.current = controllable(stale);
    left.current = leftOut(stale);
    if (targets.current.length === 0) notice(text.deployed.updating);
    else kind.value = wanted;
  };
  const all = counted === undefined;
  if (stale.length === 0 && all && kind.value === null) return null;
  return (
    <>
      <div class="stale-banner">
        <Icon name="warning" />
        <p>{text.deployed.stale(counted ?? stale.length)}</p>
        {all && may('serving:operate') && (
          <button type="button" class="button primary" onClick={() => open('repair')}>
            {text.deployed.repairAll}
          </button>
        )}
        {all && may('deployments:write') && (
          <button type="button" class="button" onClick={() => open('redeploy')}>
            {text.deployed.redeployAll}
          </button>
        )}
      </div>
      {kind.value && <RemedyDialog kind={kind.value} targets={targets.current} left={left.current} close={() => (kind.value = null)} />}
    </>
  );
}

/** The bar stays while a dialog of it is open: a deployment that leaves the list by itself takes no dialog with it. */
export function DeploymentBar({ chosen, unselect }: { chosen: readonly Deployment[]; unselect: () => void }) {
  const kind = useSignal<ManyKind | 'cancel' | null>(null);
  const targets = useRef<readonly Deployment[]>([]);
  const left = useRef(0);
  const served = chosen.filter(({ state }) => state === 'completed');
  const running = chosen.filter((one) => hasStatus(one, 'progress'));
  const ended = chosen.filter((one) => !hasStatus(one, 'progress'));
  const open = (wanted: ManyKind | 'cancel', of: readonly Deployment[]): void => {
    targets.current = controllable(of);
    left.current = leftOut(of);
    if (targets.current.length === 0) notice(text.deployed.updating);
    else kind.value = wanted;
  };
  if (chosen.length === 0 && kind.value === null) return null;
  return (
    <div class="list-bar" role="region" aria-label={text.list.bar}>
      <strong class="number" role="status">
        {text.list.selected(chosen.length)}
      </strong>
      {may('serving:operate') && (
        <button type="button" class="button" disabled={served.length === 0} onClick={() => open('repair', served)}>
          {text.deployed.repair}
        </button>
      )}
      {may('deployments:write') && (
        <>
          <button type="button" class="button" disabled={ended.length === 0} onClick={() => open('redeploy', ended)}>
            {text.deployed.redeploy}
          </button>
          <button type="button" class="button" disabled={running.length === 0} onClick={() => open('cancel', running)}>
            {text.deployed.cancel}
          </button>
        </>
      )}
      <span class="spacer" />
      <button type="button" class="button quiet" onClick={unselect}>
        {text.list.unselect}
      </button>
      {kind.value === 'cancel' && <CancelDialog targets={targets.current} left={left.current} close={() => (kind.value = null)} />}
      {kind.value && kind.value !== 'cancel' && (
        <RemedyDialog kind={kind.value} targets={targets.current} left={left.current} close={() => (kind.value = null)} />
      )}
    </div>
  );
}

/** Cancels deployments one after the other: the backend has no operation for it. */
function CancelDialog({ targets, left: updating, close }: { targets: readonly Deployment[]; left: number; close: () => void }) {
  useLost(may('deployments:write'), close);
  const cancel = ({ deployment_id }: Deployment): Promise<unknown> =>
    ask(POST('/api/v1/deployments/{deployment_id}/cancel', { params: { path: { deployment_id } } }));
  const { tried, run } = useOneByOne(targets, cancel, ({ done, failed, why, left, closed }) => {
    if (done > 0) notice(text.deployed.cancelled(done));
    if (failed > 0) notice(text.deployed.notCancelled(failed, why), 'bad');
    if (left > 0) notice(text.deployed.notTried(left), 'bad');
    if (!closed) close();
  });
  return (
    <Dialog title={text.deployed.cancelTitle} close={close}>
      <div class="dialog-body">
        <p>{text.deployed.cancelWhy(targets.length)}</p>
        <ul class="touched-group">
          {targets.slice(0, MOST_SHOWN).map(({ deployment_id: id, model_id, device_id, alias }) => (
            <li key={id}>
              <Foreign>{modelName(model_id, alias)}</Foreign>{' '}
              <Foreign class="soft">{devices.row(device_id)?.peek().name ?? device_id}</Foreign>
            </li>
          ))}
        </ul>
        {targets.length > MOST_SHOWN && <p class="soft small">{text.bulk.andMore(targets.length - MOST_SHOWN)}</p>}
        {updating > 0 && <p>{text.many.leftOut(updating)}</p>}
        <Progress tried={tried} all={targets.length} />
      </div>
      <div class="dialog-foot">
        <button type="button" class="button" onClick={close}>
          {text.dialog.close}
        </button>
        <button type="button" class="button danger" disabled={tried.value !== null} onClick={run}>
          {text.deployed.cancelRun(targets.length)}
        </button>
      </div>
    </Dialog>
  );
}
