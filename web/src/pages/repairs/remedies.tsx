// What mends a model after a repair that has failed or expired: another repair, or another port. Its newest repair alone has it.

import { useSignal } from '@preact/signals';

import { moverOf, pending } from '../../data/actions';
import { may } from '../../data/permission';
import { stateOf } from '../../data/selection';
import { isHeld } from '../../data/deployment_status';
import { deployments, deploymentsLoading, devices } from '../../data/store';
import type { Command, Deployment } from '../../data/types';
import { text } from '../../text';
import { brief } from '../../text/visible';
import { ActionGroup } from '../../ui/action_group';
import { carryOut } from '../../ui/carry_out';
import { useLost } from '../../ui/lost';
import { PortDialog } from '../device/port';

interface Props {
  command: Command;
  name: string;
  /** Whether another port is offered too: a repair often fails because another program has taken the port. */
  moves: boolean;
}

export function Remedies({ command, name, moves }: Props) {
  void deployments.revision.value;
  const deployment = deployments
    .all()
    .find((one) => one.model_id === command.model_id && one.device_id === command.device_id && isHeld(one));
  if (!deployment) return deploymentsLoading.value.state === 'ready' ? <span class="soft">{text.repairing.gone}</span> : null;
  return <Buttons deployment={deployment} name={name} moves={moves} />;
}

function Buttons({ deployment, name, moves }: { deployment: Deployment; name: string; moves: boolean }) {
  /** What moves the model, while its dialog is open: fixed when it opens, since the model may start meanwhile. */
  const moving = useSignal<'repair' | 'serve' | null>(null);
  useLost(!moving.value || may('serving:operate'), () => (moving.value = null));
  const device = devices.row(deployment.device_id)?.value;
  if (device && stateOf(device) === 'updating') return null;
  const doing = pending.value.get(deployment.deployment_id);
  const mover = moves ? moverOf(deployment) : null;
  return (
    <>
      <ActionGroup label={text.models.actionsOf(brief(name))} doing={doing ? text.models.pending[doing] : ''} idle={false}>
        <div class="row-actions">
          <button
            type="button"
            class="button"
            data-action="repair"
            aria-label={text.list.actionOn(text.repairing.retry, brief(name))}
            onClick={() => carryOut('repair', deployment, name)}
          >
            {text.repairing.retry}
          </button>
          {mover && (
            <button
              type="button"
              class="button"
              data-action="port"
              aria-label={text.list.actionOn(text.models.movePort, brief(name))}
              onClick={() => (moving.value = mover)}
            >
              {text.models.movePort}
            </button>
          )}
        </div>
      </ActionGroup>
      {moving.value && (
        <PortDialog
          name={name}
          port={deployment.serving?.port ?? deployment.port}
          serves={moving.value === 'repair'}
          close={() => (moving.value = null)}
          move={(chosen) => {
            carryOut(moving.peek() ?? 'repair', deployment, name, chosen);
            moving.value = null;
          }}
        />
      )}
    </>
  );
}
