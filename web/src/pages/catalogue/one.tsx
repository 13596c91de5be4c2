// One model: what it is, where it is deployed, how much it is used, and what can be done with it.

import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { isOffered, nameOf } from '../../data/model_name';
import { may, noteRefusal } from '../../data/permission';
import { Unreadable } from '../../data/problem';
import { purposeOf } from '../../data/purpose';
import { shareModel, sharingAskedFor } from '../../data/shared_models';
import { isThere } from '../../data/deployment_status';
import { deployments, devices, models, modelsLoading, reload } from '../../data/store';
import type { Model } from '../../data/types';
import { spansOf } from '../../data/usage';
import { usageGroups } from '../../data/usage_page';
import { text } from '../../text';
import { bytes, moment, shortNumber } from '../../text/format';
import { brief, visible } from '../../text/visible';
import { useAsked } from '../../ui/asked';
import { DeployDialog } from '../../ui/deploy';
import { Icon } from '../../ui/icon';
import { failure, notice } from '../../ui/notices';
import { orderOf } from '../../ui/order';
import { Badge, Copied, Empty, Failed, Foreign, Skeleton } from '../../ui/parts';
import { path, query } from '../../ui/router';
import { useTitle } from '../../ui/title';
import { arranged, SORTABLE, USUAL, type Named } from '../deployments/view';
import { Table } from '../deployments/table';
import { RemoveModel } from './remove';
import { SharedBadge } from './shared_badge';
import { UploadActions, UploadProgress } from './upload';

import '../../ui/tabs.css';
import '../deployments/deployments.css';
import './catalogue.css';

export function ModelPage() {
  const id = path.value.split('/')[2] ?? '';
  void models.revision.value;
  const model = models.row(id)?.value;
  const { state, error } = modelsLoading.value;
  if (model) return <Shown key={id} model={model} />;
  if (state === 'failed') return <Failed alone title={text.catalogue.oneFailedTitle} error={error} retry={() => void reload()} />;
  if (state !== 'ready') return <Skeleton alone lines={8} />;
  return (
    <Empty alone icon="box" title={text.catalogue.missingTitle}>
      <p>{text.catalogue.missing}</p>
      <a class="button" href="/models">
        {text.catalogue.back}
      </a>
    </Empty>
  );
}

function Shown({ model }: { model: Model }) {
  const name = nameOf(model);
  const deploying = useSignal(false);
  const deploys = model.ready && isOffered(model) && may('deployments:write');
  useAsked('deploy', () => (deploying.value = deploys));
  useTitle(brief(name, 80));
  const order = useComputed(() => orderOf(query.value.get('sort'), SORTABLE, USUAL));
  const there = useComputed(() => {
    void [deployments.revision.value, devices.revision.value];
    const mine = deployments.all().filter((one) => one.model_id === model.model_id && isThere(one));
    const named: Named[] = mine.map((deployment) => ({
      deployment,
      model: name,
      device: devices.row(deployment.device_id)?.peek().name ?? deployment.device_id,
    }));
    return arranged(named, { status: null, order: order.value });
  }).value;
  return (
    <div class="page model-page">
      <header class="model-page-head">
        <a class="back" href="/models">
          <Icon name="back" />
          {text.catalogue.back}
        </a>
        <div class="title-line">
          <h1>
            <Foreign>{name}</Foreign>
          </h1>
          {isOffered(model) && <Badge tone={model.ready ? 'good' : 'warn'}>{model.ready ? text.catalogue.state.ready : text.catalogue.state.incomplete}</Badge>}
          <SharedBadge model={model} />
          <div class="page-actions">
            <UploadActions model={model} />
            {deploys && (
              <button type="button" class="button primary" onClick={() => (deploying.value = true)}>
                {text.catalogue.deploy}
              </button>
            )}
            {model.owned && may('models:write') && <Share model={model} />}
            {model.owned && may('models:write') && <RemoveModel model={model} listed={there.map(({ deployment }) => deployment)} />}
          </div>
        </div>
        <UploadProgress model={model} />
      </header>
      <Facts model={model} />
      <h2>{text.catalogue.deployments}</h2>
      {there.length > 0 ? <Table shown={there} order={order.value} selected={undefined} /> : <p class="soft">{text.catalogue.notDeployed}</p>}
      {deploying.value && <DeployDialog model={model.model_id} close={() => (deploying.value = false)} />}
    </div>
  );
}

function Share({ model }: { model: Model }) {
  const busy = sharingAskedFor(model.model_id) !== undefined;
  const running = useRef(false);
  const toggle = async (): Promise<void> => {
    if (running.current) return;
    running.current = true;
    try {
      const changed = await shareModel(model.model_id, !model.shared);
      notice(changed.shared ? text.catalogue.shared(visible(model.name)) : text.catalogue.unshared(visible(model.name)));
    } catch (error) {
      noteRefusal(error);
      failure(error);
    } finally {
      running.current = false;
    }
  };
  return (
    <button type="button" class="button" disabled={busy} onClick={() => void toggle()}>
      {model.shared ? text.catalogue.unshareIt : text.catalogue.shareIt}
    </button>
  );
}

function Facts({ model }: { model: Model }) {
  const words = text.catalogue;
  const { facts } = model;
  const purpose = purposeOf(model);
  const rows: [string, string | null | undefined][] = [
    [words.fileName, model.file_name],
    [words.columns.size, model.size_bytes ? bytes(model.size_bytes) : null],
    [words.columns.plugin, words.plugins[model.plugin] ?? model.plugin],
    [text.purposes.row, purpose && text.purposes.of[purpose]],
    [words.publisher, model.owned ? null : model.publisher],
    [words.architecture, facts?.architecture],
    [words.parameters, facts ? shortNumber(facts.parameters) : null],
    [words.quantization, facts?.quantization],
    [words.context, facts?.context_length ? words.tokens(facts.context_length) : null],
    [words.memory, facts ? bytes(facts.memory_bytes) : null],
    [words.from, model.url],
    [words.created, moment(model.created_at)],
  ];
  return (
    <section class="card" aria-label={words.facts}>
      <dl class="facts-list">
        {rows.map(
          ([name, value]) =>
            value && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <Foreign>{value}</Foreign>
                </dd>
              </div>
            ),
        )}
        {model.sha256 && (
          <div>
            <dt>{words.sha256}</dt>
            <dd>
              <Copied code={model.sha256} label={words.copySha256} />
            </dd>
          </div>
        )}
        <div>
          <dt>{words.id}</dt>
          <dd>
            <Copied code={model.model_id} label={words.copyId} />
          </dd>
        </div>
        <div>
          <dt>{words.usage}</dt>
          <dd>
            <UsageLine id={model.model_id} />
          </dd>
        </div>
      </dl>
    </section>
  );
}

/** The sum of the last 30 days. */
function UsageLine({ id }: { id: string }) {
  const words = useSignal<string | null>(null);
  useEffect(() => {
    const ended = new AbortController();
    const load = async (): Promise<void> => {
      // The days of the list of models: another span would have another number.
      const { groups } = await usageGroups({ group_by: 'none', model_id: id, bucket: 'day', ...spansOf('month', 'day', Date.now()) }, ended.signal);
      const [all] = groups;
      if (!all) throw new Unreadable('no group of all usage');
      words.value = text.catalogue.usageWords(all.total.inferences, all.total.prompt_tokens, all.total.completion_tokens);
    };
    load().catch(() => {
      if (!ended.signal.aborted) words.value = text.catalogue.usageFailed;
    });
    return () => ended.abort();
  }, [id]);
  return <span class="number">{words.value ?? '…'}</span>;
}
