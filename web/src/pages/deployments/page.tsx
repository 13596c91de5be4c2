// All deployments of the account, those that need a person first: their progress, and what mends or ends them.

import { useComputed, useSignal } from '@preact/signals';

import { nameOf } from '../../data/model_name';
import { may } from '../../data/permission';
import { DEPLOYMENT_STATUSES, hasStatus, isThere } from '../../data/deployment_status';
import { deployments, deploymentsLoading, devices, devicesLoading, isWhole, models, modelsLoading, reload, together } from '../../data/store';
import { text } from '../../text';
import { Chips } from '../../ui/choice';
import { download } from '../../ui/download';
import { ExportButton } from '../../ui/export';
import { Icon } from '../../ui/icon';
import { useCalm } from '../../ui/lasting';
import { Empty, Failed, Outdated, Skeleton } from '../../ui/parts';
import { change, query } from '../../ui/router';
import { SearchAndFilters } from '../../ui/search';
import { useSelected } from '../../ui/selection';
import { useTitle } from '../../ui/title';
import { DeploymentBar, StaleBanner } from './bulk';
import { csv } from './csv';
import { Table } from './table';
import { arranged, fitting, viewOf, type Named } from './view';

import './deployments.css';

export function DeploymentsPage() {
  const view = useComputed(() => viewOf(query.value));
  const all = useComputed(() => {
    void [deployments.revision.value, devices.revision.value, models.revision.value];
    return present();
  });
  const on = useSelected();
  const found = useComputed(() => fitting(all.value, view.value, on.value));
  const shown = useComputed(() => arranged(found.value, view.value));
  const selected = useSignal<ReadonlySet<string>>(new Set());
  const chosen = useComputed(() =>
    shown.value.map(({ deployment }) => deployment).filter(({ deployment_id: id }) => selected.value.has(id)),
  );
  const stale = useComputed(() => found.value.map(({ deployment }) => deployment).filter((one) => hasStatus(one, 'stale')));
  useTitle(text.deployed.title);
  const options = DEPLOYMENT_STATUSES.map((value) => ({
    value,
    words: text.deployed.status[value],
    count: found.value.filter(({ deployment }) => hasStatus(deployment, value)).length,
  }));
  const { search, status, model, device, terms } = view.value;
  const filtered = search !== '' || status !== null || model !== '' || device !== '' || terms.length > 0;
  // Which deployments fit a selection of devices is known once the devices are.
  const loading = terms.length > 0 ? together([deploymentsLoading.value, devicesLoading.value]) : deploymentsLoading.value;
  const isKnown = loading.state === 'ready' || loading.state === 'refreshing';
  const clear = (): void => change({ q: null, state: null, model_id: null, device_id: null, select: null });
  const operates = may('serving:operate') || may('deployments:write');
  // What is drawn follows the rows a moment later. The file has the rows.
  const save = (): void => {
    const { value } = view;
    download('deployments.csv', 'text/csv;charset=utf-8', csv(arranged(fitting(present(), value, on.value), value)));
  };
  const isLoading = loading.state === 'idle' || loading.state === 'loading';
  const count = filtered ? text.list.countOf(shown.value.length, all.value.length) : text.deployed.count(all.value.length);
  // A device that comes and goes is not told each time.
  const asked = isLoading || terms.length === 0 ? count : `${loading.state} ${query.value}`;
  const counted = useCalm(all.value.length === 0 ? '' : isLoading ? text.list.soFar(count) : count, asked);
  return (
    <div class="page deployments-page">
      <header class="page-head">
        <h1>{text.deployed.title}</h1>
        <p class="soft number" role={isLoading ? undefined : 'status'}>
          {counted}
        </p>
        <span class="spacer" />
        <ExportButton count={shown.value.length} lists={[deploymentsLoading.value, devicesLoading.value, modelsLoading.value]} save={save} />
      </header>
      {all.value.length > 0 && (
        <>
          <SearchAndFilters search={search} model={model} device={device} terms={terms} />
          <Chips label={text.deployed.states} options={options} value={status ?? ''} choose={(value) => change({ state: value })} clear={filtered && clear} />
          <DeploymentBar chosen={chosen.value} unselect={() => (selected.value = new Set())} />
          <StaleBanner stale={chosen.value.length > 0 || (terms.length > 0 && !isKnown) ? [] : stale.value} />
        </>
      )}
      {shown.value.length > 0 && <Table shown={shown.value} order={view.value.order} selected={operates ? selected : undefined} grows={!isWhole(loading)} />}
      {all.value.length > 0 && shown.value.length === 0 && isKnown && (
        <Empty icon="filter" title={text.list.noMatchTitle}>
          <p>{text.list.noMatch}</p>
          <button type="button" class="button" onClick={clear}>
            {text.list.clear}
          </button>
        </Empty>
      )}
      {all.value.length > 0 && shown.value.length === 0 && isLoading && <Skeleton lines={10} />}
      {all.value.length === 0 && loading.state === 'ready' && (
        <Empty icon="rocket" title={text.deployed.nothingTitle}>
          <p>{text.deployed.nothing}</p>
          <a class="button primary" href="/models">
            <Icon name="box" />
            {text.deployed.nothingAction}
          </a>
        </Empty>
      )}
      {all.value.length === 0 && loading.state !== 'ready' && loading.state !== 'failed' && <Skeleton lines={10} />}
      {loading.state === 'failed' && all.value.length > 0 && (
        <Outdated title={text.deployed.failedTitle} error={loading.error} retry={() => void reload()} />
      )}
      {loading.state === 'failed' && all.value.length === 0 && (
        <Failed title={text.deployed.failedTitle} error={loading.error} retry={() => void reload()} />
      )}
    </div>
  );
}

/** Returns the deployments of models that are on their devices. */
function present(): Named[] {
  return deployments.all().filter(isThere).map(named);
}

function named(deployment: Named['deployment']): Named {
  const model = models.row(deployment.model_id)?.peek();
  return {
    deployment,
    model: model ? nameOf(model) : deployment.alias,
    device: devices.row(deployment.device_id)?.peek().name ?? deployment.device_id,
  };
}
