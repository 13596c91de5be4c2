// What can be done with a model on a device: two buttons in its row, the most likely first, and the rest in a menu. The dialogs
// that some of them open belong to the row, so that they stay open while what can be done changes.

import { useSignal } from '@preact/signals';

import { moverOf, pending, type Action } from '../../data/actions';
import { isOffered } from '../../data/model_name';
import { may } from '../../data/permission';
import { isHeld } from '../../data/deployment_status';
import type { Deployment, Model } from '../../data/types';
import { text } from '../../text';
import { brief } from '../../text/visible';
import { ActionGroup } from '../../ui/action_group';
import { carryOut } from '../../ui/carry_out';
import { DeployDialog } from '../../ui/deploy';
import { Confirm } from '../../ui/dialog';
import { useLost } from '../../ui/lost';
import { Menu } from '../../ui/menu';
import { PortDialog } from './port';

type Pressed = Action | 'port' | 'settings';

/** How many buttons a row has beside its menu. */
const IN_ROW = 2;
const UNDER_WAY = new Set(['queued', 'downloading', 'configuring']);

interface Props {
  deployment: Deployment;
  model: Model | undefined;
  name: string;
  /** Whether the device takes commands. */
  controls: boolean;
  /** The id of what says why some actions wait. Null if none does. */
  whyWaiting: string | null;
}

export function RowActions({ deployment, model, name, controls, whyWaiting }: Props) {
  const removing = useSignal(false);
  const setting = useSignal(false);
  /** What moves the model, while its dialog is open: fixed when it opens, since the model may start meanwhile. */
  const moving = useSignal<'repair' | 'serve' | null>(null);
  const doing = pending.value.get(deployment.deployment_id);
  const buttons = controls ? buttonsFor(deployment, model) : [];
  useLost(!moving.value || allowed(moving.value), () => (moving.value = null));
  useLost(!removing.value || allowed('remove'), () => (removing.value = false));
  const press = (pressed: Pressed): void => {
    if (pressed === 'settings') setting.value = true;
    else if (pressed === 'port') moving.value = moverOf(deployment);
    else if (pressed === 'remove') removing.value = true;
    else carryOut(pressed, deployment, name);
  };
  return (
    <>
      <ActionGroup label={text.models.actionsOf(brief(name))} doing={doing ? text.models.pending[doing] : ''} idle={buttons.length === 0}>
        {buttons.length > 0 && <Buttons all={buttons} name={name} stale={deployment.stale} whyWaiting={whyWaiting} press={press} />}
      </ActionGroup>
      {setting.value && <DeployDialog model={deployment.model_id} targets={[deployment.device_id]} changed={deployment} close={() => (setting.value = false)} />}
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
      {removing.value && (
        <Confirm
          title={text.models.removeTitle}
          action={text.models.removeConfirm}
          close={() => (removing.value = false)}
          act={() => {
            removing.value = false;
            carryOut('remove', deployment, name);
          }}
        >
          <p dir="auto">{text.models.removeBody(name)}</p>
        </Confirm>
      )}
    </>
  );
}

interface ButtonsProps {
  all: readonly Pressed[];
  name: string;
  stale: boolean;
  whyWaiting: string | null;
  press: (pressed: Pressed) => void;
}

function Buttons({ all, name, stale, whyWaiting, press }: ButtonsProps) {
  // They keep their places while the device is away: nothing that is about to be pressed moves or loses the focus.
  const waits = (one: Pressed): boolean => whyWaiting !== null && (one === 'serve' || one === 'repair' || one === 'port');
  const shown = (one: Pressed, style: string, pressed: () => void) => (
    <button
      key={one}
      type="button"
      class={style}
      data-action={one}
      aria-disabled={waits(one) ? 'true' : undefined}
      aria-describedby={waits(one) ? (whyWaiting ?? undefined) : undefined}
      onClick={() => {
        if (!waits(one)) pressed();
      }}
    >
      {one === 'settings' ? text.pluginSettings.button : text.models[one === 'port' ? 'movePort' : one]}
    </button>
  );
  const rest = all.slice(IN_ROW);
  return (
    <div class="actions">
      {all.slice(0, IN_ROW).map((one) => shown(one, one === 'repair' && stale ? 'button primary' : 'button', () => press(one)))}
      {rest.length > 0 && (
        <Menu
          label={text.models.more}
          named={text.models.moreOf(brief(name))}
          icon="more"
          atEnd
          body={(close) =>
            rest.map((one) =>
              shown(one, 'menu-item', () => {
                // The focus goes back to the menu first: a dialog returns it to where it was.
                close();
                press(one);
              }),
            )
          }
        />
      )}
    </div>
  );
}

function buttonsFor(deployment: Deployment, model: Model | undefined): Pressed[] {
  const actions = actionsFor(deployment).filter(allowed);
  const buttons: Pressed[] = [...actions];
  const mover = moverOf(deployment);
  if (mover !== null && actions.includes(mover)) buttons.splice(-1, 0, 'port');
  if (actions.includes('redeploy') && model?.ready && isOffered(model)) buttons.splice(-1, 0, 'settings');
  return buttons;
}

export function isUnderWay({ state }: Deployment): boolean {
  return UNDER_WAY.has(state);
}

/** Returns what can be done now, the most likely first. What needs the device waits until it is online. */
export function actionsFor(deployment: Deployment): Action[] {
  const { state, serving, stale } = deployment;
  if (isUnderWay(deployment)) return ['cancel'];
  if (state !== 'completed') return isHeld(deployment) ? ['redeploy', 'dismiss', 'remove'] : ['redeploy', 'dismiss'];
  const actions: Action[] = [];
  const stopping = serving?.state === 'stopping';
  if (stale) actions.push('repair');
  if (serving?.is_serving || serving?.state === 'starting') actions.push('stop');
  else if (!stopping) actions.push('serve');
  if (!stale && serving?.is_serving) actions.push('repair');
  actions.push('redeploy', 'remove');
  return actions;
}

function allowed(action: Action): boolean {
  return may(action === 'serve' || action === 'stop' || action === 'repair' ? 'serving:operate' : 'deployments:write');
}
