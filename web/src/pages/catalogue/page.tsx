// The models of the account and the shared ones: where they are, what is being uploaded, and how to add one.

import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { isOffered, nameOf } from '../../data/model_name';
import { may } from '../../data/permission';
import { isThere } from '../../data/deployment_status';
import { deployments, me, models, modelsLoading, reload } from '../../data/store';
import type { Deployment, Model } from '../../data/types';
import { loadModelUse, type ModelUse } from '../../data/usage';
import { onReturn } from '../../data/visible';
import { text } from '../../text';
import { byText, nameKey } from '../../text/collation';
import { bytes, shortNumber } from '../../text/format';
import { visible } from '../../text/visible';
import { useAsked } from '../../ui/asked';
import { Chips } from '../../ui/choice';
import { DeployDialog } from '../../ui/deploy';
import { Icon } from '../../ui/icon';
import { List, type ListRow, type RowHeights } from '../../ui/list';
import { useLoaded } from '../../ui/loaded';
import { Badge, Empty, Failed, Foreign, Outdated, Skeleton } from '../../ui/parts';
import { PurposeTag } from '../../ui/purpose';
import { change, query } from '../../ui/router';
import { SearchField } from '../../ui/search_field';
import { useTitle } from '../../ui/title';
import { AddDialog } from './add';
import { SharedBadge } from './shared_badge';
import { FileBadge, UploadActions, UploadProgress } from './upload';

import '../deployments/deployments.css';
import './catalogue.css';

const COLUMNS = ['name', 'state', 'size', 'plugin', 'deployed', 'used', 'actions'] as const;
const STATES = ['ready', 'incomplete', 'own', 'shared'] as const;
const HEIGHTS: RowHeights = { wide: 54, narrow: 124 };

export function ModelsPage() {
  const adding = useSignal(false);
  useAsked('add', () => (adding.value = true));
  const deploying = useSignal<string | null>(null);
  useTitle(text.catalogue.title);
  const all = useComputed(() => {
    void models.revision.value;
    return models.all().sort((a, b) => byText(nameKey(nameOf(a)), nameKey(nameOf(b))) || byText(a.model_id, b.model_id));
  }).value;
  const byModel = useComputed(() => {
    void deployments.revision.value;
    const groups = new Map<string, Deployment[]>();
    for (const one of deployments.all().filter(isThere)) {
      const group = groups.get(one.model_id);
      if (group) group.push(one);
      else groups.set(one.model_id, [one]);
    }
    return groups;
  });
  const { value: use, again } = useLoaded('use', (signal) => loadModelUse(Date.now(), signal), { ready: me.value !== null });
  useEffect(() => onReturn(again), []);
  const search = query.value.get('q') ?? '';
  const wanted = STATES.find((known) => known === query.value.get('state')) ?? null;
  const words = search.trim().toLowerCase();
  const found = all.filter(
    (model) =>
      words === '' ||
      [nameOf(model), model.file_name, model.plugin, text.catalogue.plugins[model.plugin] ?? '', model.model_id].some((one) => one.toLowerCase().includes(words)),
  );
  const shown = found.filter((model) => wanted === null || isIn(model, wanted));
  const { state, error } = modelsLoading.value;
  const writes = may('models:write');
  const options = STATES.map((value) => ({ value, words: text.catalogue.state[value], count: found.filter((model) => isIn(model, value)).length }));
  const add = writes && (
    <button type="button" class="button primary" onClick={() => (adding.value = true)}>
      <Icon name="plus" />
      {text.catalogue.add}
    </button>
  );
  return (
    <div class="page models-page">
      <header class="page-head">
        <h1>{text.catalogue.title}</h1>
        <p class="soft number" role="status">
          {all.length > 0 && (words !== '' || wanted ? text.list.countOf(shown.length, all.length) : text.catalogue.count(all.length))}
        </p>
        <span class="spacer" />
        {all.length > 0 && add}
      </header>
      {all.length > 0 && (
        <div class="filters" role="search" aria-label={text.list.filters}>
          <SearchField label={text.catalogue.search} words={search} />
          <Chips label={text.catalogue.states} options={options} value={wanted ?? ''} choose={(value) => change({ state: value })} />
        </div>
      )}
      {shown.length > 0 && (
        <List
          name="catalogue-row"
          label={text.catalogue.table}
          columns={COLUMNS.map((name) => ({ name, title: text.catalogue.columns[name] }))}
          ids={shown.map(({ model_id }) => model_id)}
          heights={HEIGHTS}
          row={(id) => rowOf(id, byModel.value.get(id) ?? [], use, () => (deploying.value = id))}
        />
      )}
      {all.length > 0 && shown.length === 0 && (
        <Empty icon="filter" title={text.list.noMatchTitle}>
          <p>{text.list.noMatch}</p>
          <button type="button" class="button" onClick={() => change({ q: null, state: null })}>
            {text.list.clear}
          </button>
        </Empty>
      )}
      {all.length === 0 && state === 'ready' && (
        <Empty icon="box" title={text.catalogue.nothingTitle}>
          <p>{text.catalogue.nothing}</p>
          {add}
        </Empty>
      )}
      {all.length === 0 && state !== 'ready' && state !== 'failed' && <Skeleton lines={6} />}
      {state === 'failed' && all.length > 0 && <Outdated title={text.catalogue.failedTitle} error={error} retry={() => void reload()} />}
      {state === 'failed' && all.length === 0 && <Failed title={text.catalogue.failedTitle} error={error} retry={() => void reload()} />}
      {adding.value && writes && <AddDialog close={() => (adding.value = false)} />}
      {deploying.value !== null && <DeployDialog model={deploying.value} close={() => (deploying.value = null)} />}
    </div>
  );
}

function isIn(model: Model, state: (typeof STATES)[number]): boolean {
  if (state === 'shared') return model.shared;
  if (state === 'own') return model.owned;
  return state === 'ready' ? model.ready && isOffered(model) : !model.ready;
}

function rowOf(id: string, there: readonly Deployment[], use: ModelUse | null, deploy: () => void): ListRow | null {
  const model = models.row(id)?.value;
  if (!model) return null;
  const stale = there.filter((one) => one.stale && one.state === 'completed').length;
  const name = visible(nameOf(model));
  return {
    title: nameOf(model),
    cells: {
      name: (
        <div class="stacked">
          <a class="strong" href={`/models/${id}`}>
            <Foreign>{nameOf(model)}</Foreign>
          </a>
          <span class="badges">
            <PurposeTag purpose={model.facts?.task ?? null} />
            <Foreign class="small soft">{model.file_name}</Foreign>
          </span>
        </div>
      ),
      state: (
        <div class="stacked">
          <span class="badges">
            {isOffered(model) && <FileBadge model={model} />}
            <SharedBadge model={model} short />
          </span>
          <UploadProgress model={model} />
        </div>
      ),
      size: <span class="number soft">{model.size_bytes ? bytes(model.size_bytes) : '–'}</span>,
      plugin: <Foreign class="small soft">{text.catalogue.plugins[model.plugin] ?? model.plugin}</Foreign>,
      deployed: (
        <>
          <a href={`/deployments?model_id=${id}`}>
            <span class="number">{text.catalogue.deployedOn(there.length)}</span>
          </a>
          {stale > 0 && (
            <Badge tone="warn" href={`/deployments?model_id=${id}&state=stale`}>
              {text.catalogue.stale(stale)}
            </Badge>
          )}
        </>
      ),
      used: <span class="number soft">{use ? requestsOf(id, use) : '–'}</span>,
      actions: (
        <div class="row-actions">
          <UploadActions model={model} />
          {model.ready && isOffered(model) && may('deployments:write') && (
            <button type="button" class="button" aria-label={text.list.actionOn(text.catalogue.deploy, name)} onClick={deploy}>
              {text.catalogue.deploy}
            </button>
          )}
        </div>
      ),
    },
  };
}

function requestsOf(id: string, { requests, atMost }: ModelUse): string {
  const known = requests.get(id);
  if (known !== undefined) return shortNumber(known);
  return atMost > 0 ? text.catalogue.atMost(shortNumber(atMost)) : '0';
}
