// All devices of the account: search, filter, order, selection, and what is done to many at once.

import { useComputed, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';

import { may } from '../../data/permission';
import { deployments, deploymentsLoading, devices, devicesLoading, isWhole, reload } from '../../data/store';
import { text } from '../../text';
import { download } from '../../ui/download';
import { ExportButton } from '../../ui/export';
import { Icon } from '../../ui/icon';
import { useCalm } from '../../ui/lasting';
import { Empty, Failed, Outdated, Skeleton } from '../../ui/parts';
import { change, query } from '../../ui/router';
import { useTitle } from '../../ui/title';
import { BulkBar } from './bulk';
import { csv } from './csv';
import { Filters } from './filters';
import { RetireButton } from './retire';
import { Table } from './table';
import { arranged, fitting, groupedByDevice, ordered, orderOf, orderWords, viewOf, type ByDevice, type Column } from './view';

const NONE: ByDevice = new Map();

export function DevicesPage() {
  const view = useComputed(() => viewOf(query.value));
  const byDevice = useComputed(() => (deployments.revision.value, groupedByDevice(deployments.all())));
  const all = useComputed(() => (devices.revision.value, devices.all()));
  // The order follows the rows and the column alone: what is typed into the search sorts nothing.
  const sorting = useComputed(() => orderWords(view.value.order));
  const sorted = useComputed(() => {
    const order = orderOf(sorting.value);
    return ordered(all.value, order, order.column === 'models' ? byDevice.value : NONE);
  });
  const shown = useComputed(() => fitting(sorted.value, view.value));
  const ids = useComputed(() => shown.value.map((device) => device.device_id));
  const selected = useSignal<ReadonlySet<string>>(new Set());
  const chosen = useComputed(() => shown.value.filter((device) => selected.value.has(device.device_id)));
  const loading = devicesLoading.value;
  useTitle(text.devices.title);
  const sort = useMemo(
    () => (column: Column) => {
      const { order } = view.peek();
      const descending = order.column === column ? !order.descending : column !== 'name' && column !== 'state';
      change({ sort: orderWords({ column, descending }) });
    },
    [],
  );
  const filtered = view.value.search !== '' || view.value.terms.length > 0;
  const isLoading = loading.state === 'loading';
  // What is loaded is not spoken, so it is counted at once.
  const asked = isLoading ? String(all.value.length) : `${loading.state} ${query.value}`;
  const counted = useCalm(counts(isLoading, filtered, shown.value.length, all.value.length), asked);
  // What is drawn follows the rows a moment later. The file has the rows.
  const save = (): void => {
    const groups = groupedByDevice(deployments.all());
    download('devices.csv', 'text/csv;charset=utf-8', csv(arranged(devices.all(), view.peek(), groups), groups));
  };
  const adds = may('keys:write');
  const unselect = (): void => {
    selected.value = new Set();
  };
  return (
    <div class="page devices-page">
      <header class="page-head">
        <h1>{text.devices.title}</h1>
        <p class="soft number" role={isLoading ? undefined : 'status'}>
          {counted}
        </p>
        <div class="page-actions">
          {adds && (
            <a class="button primary" href="/devices/add">
              <Icon name="plus" />
              {text.devices.nothingAction}
            </a>
          )}
          <RetireButton />
          <ExportButton count={shown.value.length} lists={[loading, deploymentsLoading.value]} save={save} />
        </div>
      </header>
      {(all.value.length > 0 || loading.state !== 'ready') && <Filters view={view.value} devices={all} />}
      {all.value.length > 0 && <BulkBar devices={chosen.value} ticked={selected.value.size} unselect={unselect} />}
      {all.value.length > 0 && shown.value.length > 0 && (
        <Table ids={ids.value} byDevice={byDevice} order={view.value.order} hidden={view.value.hidden} sort={sort} selected={selected} grows={!isWhole(loading)} />
      )}
      {all.value.length > 0 && shown.value.length === 0 && (
        <Empty icon="filter" title={text.devices.noMatchTitle}>
          <p>{text.devices.noMatch}</p>
          <button type="button" class="button" onClick={() => change({ q: null, select: null })}>
            {text.devices.clear}
          </button>
        </Empty>
      )}
      {all.value.length === 0 && loading.state === 'ready' && (
        <Empty icon="devices" title={text.devices.nothingTitle}>
          <p>{text.devices.nothing}</p>
          {adds ? (
            <a class="button primary" href="/devices/add">
              {text.devices.nothingAction}
            </a>
          ) : (
            <p>{text.add.viewer}</p>
          )}
        </Empty>
      )}
      {all.value.length === 0 && loading.state !== 'ready' && loading.state !== 'failed' && <Skeleton lines={12} />}
      {loading.state === 'failed' && all.value.length > 0 && (
        <Outdated title={text.devices.failedTitle} error={loading.error} retry={() => void reload()} />
      )}
      {loading.state === 'failed' && all.value.length === 0 && (
        <Failed title={text.devices.failedTitle} error={loading.error} retry={() => void reload()} />
      )}
    </div>
  );
}

function counts(loading: boolean, filtered: boolean, shown: number, all: number): string {
  if (all === 0) return '';
  const words = filtered ? text.devices.countOf(shown, all) : text.devices.count(all);
  return loading ? text.list.soFar(words) : words;
}
