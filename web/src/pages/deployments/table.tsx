// The table of deployments. A row follows its deployment and its device; its controls are away while one of them works.

import type { Signal } from '@preact/signals';

import { pending, type Action } from '../../data/actions';
import { may } from '../../data/permission';
import { stateOf } from '../../data/selection';
import { written } from '../../data/settings';
import { remediesFor, statusOf } from '../../data/deployment_status';
import { purposeOf } from '../../data/purpose';
import { deployments, devices, models } from '../../data/store';
import type { Deployment } from '../../data/types';
import { text } from '../../text';
import { visible } from '../../text/visible';
import { ActionGroup } from '../../ui/action_group';
import { carryOut } from '../../ui/carry_out';
import { List, type ListRow, type RowHeights } from '../../ui/list';
import { notice } from '../../ui/notices';
import { orderWords, turned, type Order } from '../../ui/order';
import { Badge, Foreign, Time } from '../../ui/parts';
import { Said } from '../../ui/prose';
import { PurposeTag } from '../../ui/purpose';
import { change } from '../../ui/router';
import { DeploymentBadges, DownloadProgress, saysOffline } from '../../ui/deployment_badges';
import { COLUMNS, portOf, SORTABLE, USUAL, type Named } from './view';

const HEIGHTS: RowHeights = { wide: 76, narrow: 140 };

interface Props {
  shown: readonly Named[];
  order: Order;
  selected: Signal<ReadonlySet<string>> | undefined;
  /** Whether more deployments are still to come. */
  grows?: boolean;
}

export function Table({ shown, order, selected, grows = false }: Props) {
  const names = new Map(shown.map((one) => [one.deployment.deployment_id, one]));
  const columns = COLUMNS.map((name) => ({ name, title: text.deployed.columns[name], sortable: SORTABLE.includes(name) }));
  return (
    <List
      name="deployment-row"
      label={text.deployed.table}
      columns={columns}
      ids={shown.map(({ deployment }) => deployment.deployment_id)}
      heights={HEIGHTS}
      order={order}
      sort={(column) => change({ sort: orderWords(turned(order, column), USUAL) })}
      selected={selected}
      grows={grows}
      actedOn={(id) => {
        const one = names.get(id);
        return one ? actedOn(one.deployment) : null;
      }}
      row={(id) => rowOf(id, names.get(id))}
    />
  );
}

function rowOf(id: string, names: Named | undefined): ListRow | null {
  const deployment = deployments.row(id)?.value;
  if (!deployment || !names) return null;
  const { model, device } = names;
  const state = devices.row(deployment.device_id)?.value;
  const presence = state ? stateOf(state) : null;
  const why = deployment.reason ?? deployment.serving?.detail;
  return {
    title: text.deployed.rowOf(model, device),
    cells: {
      standing: (
        <div class="stacked">
          <DeploymentBadges deployment={deployment} />
          {statusOf(deployment) === 'progress' && <DownloadProgress deployment={deployment} name={model} />}
        </div>
      ),
      model: (
        <div class="stacked">
          <a class="strong" href={`/models/${deployment.model_id}`}>
            <Foreign>{model}</Foreign>
          </a>
          {/* Why a model is not there matters more than what it is for, and takes the place of that. */}
          {why ? (
            <Said words={why} class="why" />
          ) : (
            <span class="badges">
              <PurposeTag purpose={purposeOf(models.row(deployment.model_id)?.value, deployment)} />
              {secondOf(deployment, model) !== '' && <Foreign class="small soft">{secondOf(deployment, model)}</Foreign>}
            </span>
          )}
        </div>
      ),
      device: (
        <>
          <a href={`/devices/${deployment.device_id}`}>
            <Foreign>{device}</Foreign>
          </a>
          {presence === 'offline' && !saysOffline(deployment) && <Badge tone="quiet">{text.deployed.offline}</Badge>}
          {presence === 'updating' && <Badge tone="busy">{text.state.updating}</Badge>}
        </>
      ),
      port: <span class="number soft">{portOf(deployment)}</span>,
      updated: <Time at={deployment.updated_at} />,
      actions: presence !== 'updating' && <RowActions deployment={deployment} name={visible(model)} online={presence === 'online'} />,
    },
  };
}

/** The alias if it differs from the name, and the settings. */
function secondOf(deployment: Deployment, model: string): string {
  return [model === deployment.alias ? '' : deployment.alias, ...written(deployment.settings)].filter(Boolean).join(' · ');
}

function RowActions({ deployment, name, online }: { deployment: Deployment; name: string; online: boolean }) {
  const doing = pending.value.get(deployment.deployment_id);
  const allowed = remediesFor(deployment).filter((action) => may(permissionOf(action)));
  // A button keeps its place while the device is away: nothing that is about to be pressed moves or loses the focus.
  const waits = (action: Action): boolean => (action === 'repair' || action === 'serve') && !online;
  return (
    <ActionGroup label={text.models.actionsOf(name)} of={actedOn(deployment)} doing={doing ? text.models.pending[doing] : ''} idle={allowed.length === 0}>
      <div class="row-actions">
        {allowed.map((action) => (
          <button
            key={action}
            type="button"
            class={action === 'repair' && deployment.stale ? 'button primary' : 'button'}
            data-action={action}
            aria-label={text.list.actionOn(text.models[action], name)}
            aria-disabled={waits(action) ? 'true' : undefined}
            title={waits(action) ? text.models.offline : undefined}
            onClick={() => (waits(action) ? notice(text.models.offline) : carryOut(action, deployment, name))}
          >
            {text.models[action]}
          </button>
        ))}
      </div>
    </ActionGroup>
  );
}

/** The model and the device: another deployment of the same two takes the place of a row. */
function actedOn({ model_id: model, device_id: device }: Deployment): string {
  return `${model} ${device}`;
}

function permissionOf(action: Action): 'serving:operate' | 'deployments:write' {
  return action === 'repair' || action === 'serve' || action === 'stop' ? 'serving:operate' : 'deployments:write';
}
