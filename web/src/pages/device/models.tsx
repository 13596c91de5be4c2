// The models on a device: what they do, whether browsers may use them, and what mends them.

import { useComputed, useSignal } from '@preact/signals';

import { nameOf } from '../../data/model_name';
import { may } from '../../data/permission';
import { stateOf } from '../../data/selection';
import { isThere } from '../../data/deployment_status';
import { deployments, deploymentsLoading, models, reload } from '../../data/store';
import type { Deployment, Device } from '../../data/types';
import { purposeOf } from '../../data/purpose';
import { written } from '../../data/settings';
import { text } from '../../text';
import { bytes } from '../../text/format';
import { brief, sentence } from '../../text/visible';
import { workspaceWith } from '../../ui/addresses';
import { DeployDialog } from '../../ui/deploy';
import { Icon } from '../../ui/icon';
import { useLasting } from '../../ui/lasting';
import { Badge, Empty, Failed, Foreign, Outdated, Skeleton } from '../../ui/parts';
import { Prose } from '../../ui/prose';
import { PurposeTag } from '../../ui/purpose';
import { change, query } from '../../ui/router';
import { SearchField } from '../../ui/search_field';
import { StateBadge } from '../../ui/deployment_badges';
import { taskOf } from '../../workspace/targets';
import { FromPrograms } from './program';
import { actionsFor, isUnderWay, RowActions } from './row_actions';

/** How many models are so many that one of them is looked for by its name. */
const MANY = 12;
/** How long a device is offline before a sentence takes a place for it, in milliseconds: what flickers would move the rows. */
const UNMENTIONED = 3_000;
const WHY_OFFLINE = 'models-offline';

export function Models({ device }: { device: Device }) {
  const deploying = useSignal(false);
  const all = useComputed(() => {
    void deployments.revision.value;
    return deployments.all().filter((one) => one.device_id === device.device_id && isThere(one));
  }).value;
  const search = query.value.get('q') ?? '';
  const searches = all.length >= MANY || search !== '';
  const deploys = stateOf(device) !== 'updating' && may('deployments:write');
  const shown = searches ? all.filter((one) => isNamed(one, search)) : all;
  return (
    <>
      {(searches || deploys) && (
        <div class="tab-actions">
          {searches && <Search words={search} shown={shown.length} all={all.length} />}
          <span class="spacer" />
          {deploys && (
            <button type="button" class="button primary" onClick={() => (deploying.value = true)}>
              <Icon name="plus" />
              {text.deploying.here}
            </button>
          )}
        </div>
      )}
      {all.length > 0 ? <Deployed device={device} shown={shown} /> : <NoModels />}
      <FromPrograms shown={all} />
      {deploying.value && <DeployDialog targets={[device.device_id]} close={() => (deploying.value = false)} />}
    </>
  );
}

function Search({ words, shown, all }: { words: string; shown: number; all: number }) {
  return (
    <>
      <SearchField label={text.models.search} words={words} />
      <p class="soft number" role="status">
        {words === '' ? text.catalogue.count(all) : text.list.countOf(shown, all)}
      </p>
    </>
  );
}

function isNamed({ model_id: id, alias }: Deployment, search: string): boolean {
  const words = search.trim().toLowerCase();
  const model = models.row(id)?.peek();
  return [model ? nameOf(model) : '', alias].some((name) => name.toLowerCase().includes(words));
}

function Deployed({ device, shown }: { device: Device; shown: readonly Deployment[] }) {
  const loading = deploymentsLoading.value;
  const state = stateOf(device);
  const offline = state === 'offline';
  const mentioned = useLasting(offline, UNMENTIONED);
  return (
    <>
      {loading.state === 'failed' && <Outdated title={text.models.failedTitle} error={loading.error} retry={() => void reload()} />}
      {offline && (
        <p id={WHY_OFFLINE} class={mentioned ? 'banner quiet' : 'visually-hidden'}>
          {text.models.offline}
        </p>
      )}
      {shown.length > 0 ? (
        <ul class="model-list">
          {shown.map((deployment) => (
            // A redeployment has another id, and a dialog that is open for its model stays.
            <ModelRow key={deployment.model_id} deployment={deployment} controls={state !== 'updating'} offline={offline} />
          ))}
        </ul>
      ) : (
        <Empty icon="filter" title={text.list.noMatchTitle}>
          <p>{text.list.noMatch}</p>
          <button type="button" class="button" onClick={() => change({ q: null })}>
            {text.list.clear}
          </button>
        </Empty>
      )}
    </>
  );
}

function NoModels() {
  const loading = deploymentsLoading.value;
  if (loading.state === 'failed') {
    return <Failed title={text.models.failedTitle} error={loading.error} retry={() => void reload()} />;
  }
  if (loading.state !== 'ready' && loading.state !== 'refreshing') return <Skeleton lines={3} />;
  return (
    <Empty icon="chat" title={text.models.nothingTitle}>
      <p>{text.models.nothing}</p>
      <a class="button" href="/models">
        {text.deployed.nothingAction}
      </a>
    </Empty>
  );
}

interface RowProps {
  deployment: Deployment;
  controls: boolean;
  offline: boolean;
}

function ModelRow({ deployment, controls, offline }: RowProps) {
  void models.revision.value;
  const model = models.row(deployment.model_id)?.value;
  const name = model ? nameOf(model) : deployment.alias;
  const port = deployment.serving?.port ?? deployment.port;
  return (
    <li class="model" data-model={deployment.model_id}>
      <div class="model-body">
        <div class="model-head">
          <Foreign class="model-name">{name}</Foreign>
          <PurposeTag purpose={purposeOf(model, deployment)} />
          <StateBadge deployment={deployment} />
          {deployment.stale ? (
            <Badge tone="warn">{text.models.allowlistStale}</Badge>
          ) : (
            deployment.state === 'completed' && <Badge tone="quiet">{text.models.allowlistCurrent}</Badge>
          )}
          <span class="soft small number">{text.models.port(port)}</span>
          {model?.name !== deployment.alias && name !== deployment.alias && <Foreign class="soft small">{deployment.alias}</Foreign>}
          {written(deployment.settings).map((words) => (
            <Foreign key={words} class="soft small number">
              {words}
            </Foreign>
          ))}
          {/* It stays while the device is away, as the buttons do; the workspace says then why nobody answers. */}
          {controls && deployment.serving?.is_serving && taskOf(deployment, model) !== null && (
            <a class="try" href={workspaceWith(deployment.model_id, deployment.device_id)} aria-label={text.models.tryOf(brief(name))}>
              {text.models.try}
            </a>
          )}
        </div>
        {isUnderWay(deployment) && <Progress deployment={deployment} name={name} />}
        {deployment.stale && <p class="small why">{staleWords(deployment)}</p>}
        {(deployment.reason ?? deployment.serving?.detail) && (
          <p class="small why" dir="auto">
            <Prose words={sentence(deployment.reason ?? deployment.serving?.detail ?? '')} />
          </p>
        )}
      </div>
      <RowActions deployment={deployment} model={model} name={name} controls={controls} whyWaiting={offline ? WHY_OFFLINE : null} />
    </li>
  );
}

function Progress({ deployment: { progress }, name }: { deployment: Deployment; name: string }) {
  const { bytes_done: done, bytes_total: total } = progress;
  return (
    <p class="progress">
      <progress aria-label={text.models.progressOf(brief(name))} value={total > 0 ? done : undefined} max={Math.max(total, 1)} />
      {total > 0 && <span class="small number soft">{text.models.progress(bytes(done), bytes(total))}</span>}
    </p>
  );
}

/** Says what a stale allowlist does, and what can be done about it now. */
function staleWords(deployment: Deployment): string {
  if (!actionsFor(deployment).includes('repair')) return text.models.stale;
  return `${text.models.stale} ${deployment.serving?.is_serving ? text.models.staleRepair : text.models.staleStopped}`;
}
