// The bar of the workspace: which model on which device, why one cannot be asked, and what mends that.

import { useSignal } from '@preact/signals';

import { noteRefusal } from '../../data/permission';
import { messageOf } from '../../data/problem';
import { reload } from '../../data/store';
import { text } from '../../text';
import { brief, sentence, visible } from '../../text/visible';
import type { ChooserProps, Choosable } from '../../ui/combobox';
import { lazy } from '../../ui/lazy';
import { Badge, Empty, Failed, Skeleton } from '../../ui/parts';
import { Prose } from '../../ui/prose';
import type { Remedy } from '../../workspace/causes';
import { isOther } from '../../workspace/lines';
import { permitted, whoCanHelp } from '../../workspace/permitted';
import { carryOut } from '../../workspace/remedies';
import type { Absence, Target } from '../../workspace/targets';
import { running } from './asking';
import { failed, remedy } from './failures';
import { choose, loading, target, targets } from './state';

import './bar.css';

/** The longest name in the choice, so that the name of the device beside it stays in sight. */
const MOST = 32;

/** How many models are offered in a list. One of more is found by what is typed. */
const FEW = 8;
/** How many are offered if the field that finds them is not there: a list of all in a large fleet would be slow to open. */
const OFFERED = 100;

/** Why a stale model may be refused, and what mends it. */
function staleWhy(): string {
  return `${text.models.stale} ${text.models.staleRepair}`;
}

/** The remedy for each reason why a model cannot be asked. */
const WAY_BACK: Partial<Record<Absence, Remedy>> = { stopped: 'serve', failed: 'redeploy' };

const ModelSearch = lazy(async () => (await import('../../ui/combobox')).Combobox, ModelList);

export function ModelChoice() {
  const chosen = target.value;
  if (!chosen) return null;
  const served = targets.value.filter(({ absent }) => absent === null);
  const others = targets.value.filter(({ absent }) => absent !== null);
  const options = [...served, ...others].map(choosable);
  const Chooser = options.length > FEW ? ModelSearch : ModelList;
  return (
    <div class="model-choice">
      <label for="model">{text.workspace.model}</label>
      <Chooser
        id="model"
        label={text.workspace.model}
        chosen={options.find(({ id }) => id === chosen.id) ?? choosable(chosen)}
        options={options}
        disabled={running.value !== null || remedy.value.busy}
        choose={choose}
      />
      {chosen.stale && (
        <Badge tone="warn" title={staleWhy()}>
          {text.workspace.stale}
        </Badge>
      )}
    </div>
  );
}

function ModelList({ id, chosen, options, disabled, choose: take }: ChooserProps) {
  const offered = options.slice(0, OFFERED);
  if (!offered.includes(chosen)) offered.push(chosen);
  const rest = options.length - offered.length;
  return (
    <select id={id} value={chosen.id} disabled={disabled} onChange={(event) => take(event.currentTarget.value)}>
      {offered.map((one) => (
        <option key={one.id} value={one.id}>
          {one.words}
        </option>
      ))}
      {rest > 0 && <option disabled>{text.workspace.moreModels(rest)}</option>}
    </select>
  );
}

function choosable(one: Target): Choosable {
  const words = one.absent === null ? nameOf(one) : text.workspace.choiceAbsent(nameOf(one), text.workspace.absent[one.absent]);
  return { id: one.id, words, found: `${one.name} ${one.device} ${one.alias}`.toLowerCase() };
}

/** Why the chosen model cannot be asked, or may be refused, with what mends it. */
export function ModelState() {
  const chosen = target.value;
  if (!chosen) return null;
  const { absent } = chosen;
  if (absent === 'elsewhere') return isExplained(chosen) ? null : <Elsewhere chosen={chosen} />;
  if (absent === null) {
    if (!chosen.stale || isOffered(chosen, 'repair')) return null;
    return <Offer key={`${chosen.id} stale`} chosen={chosen} words={staleWhy()} action="repair" />;
  }
  return <Offer key={`${chosen.id} ${absent}`} chosen={chosen} words={whyAbsent(chosen, absent)} action={WAY_BACK[absent] ?? null} />;
}

/** A model that its device has given up serving has the device's words. */
function whyAbsent({ deployment }: Target, absent: Absence): string {
  const said = absent === 'stopped' ? deployment.serving?.detail : null;
  return said ? text.workspace.notServedBecause(sentence(said).slice(0, 500)) : text.workspace.absentWhy[absent];
}

/** Whether the card of a failure says that the chosen model is on another computer. */
function isExplained({ id, task }: Target): boolean {
  const failure = failed.value;
  return failure?.cause.code === 'other-device' && failure.target.id === id && !isOther(task);
}

/** Whether the card of a failure offers the same for the chosen model: one thing is offered once. */
function isOffered({ id }: Target, action: Remedy): boolean {
  const failure = failed.value;
  return failure?.target.id === id && failure.cause.actions.includes(action);
}

/** A model of another computer. The same model on this one is offered. */
function Elsewhere({ chosen }: { chosen: Target }) {
  const twin = targets.value.find(({ modelId, absent, here }) => modelId === chosen.modelId && absent === null && here);
  return (
    <div class="offer">
      <p>{text.workspace.absentWhy.elsewhere}</p>
      {twin && (
        <button type="button" class="button" data-offer="here" onClick={() => choose(twin.id)}>
          {text.workspace.askHere(brief(twin.device, MOST))}
        </button>
      )}
    </div>
  );
}

function Offer({ chosen, words, action }: { chosen: Target; words: string; action: Remedy | null }) {
  const progress = useSignal('');
  const busy = useSignal(false);
  const act = async (): Promise<void> => {
    if (!action || busy.peek()) return;
    busy.value = true;
    try {
      await carryOut(action, chosen, (said) => (progress.value = said));
    } catch (error) {
      noteRefusal(error);
      progress.value = text.workspace.serveFailed(visible(chosen.name), visible(messageOf(error)));
    } finally {
      busy.value = false;
    }
  };
  return (
    <div class="offer">
      <p>
        <Prose words={words} />
      </p>
      {action && permitted([action]).length === 0 && <p>{whoCanHelp([action])}</p>}
      {action && permitted([action]).length > 0 && (
        <button type="button" class="button" data-offer={action} aria-disabled={busy.value} onClick={() => void act()}>
          {text.remedies[action]}
        </button>
      )}
      <p class="soft" role="status" dir="auto">
        <Prose words={progress.value} />
      </p>
    </div>
  );
}

/** What stands in place of the chat while there is no model to ask. */
export function NoModel() {
  const { state, error } = loading.value;
  if (state === 'failed') return <Failed title={text.models.failedTitle} error={error} retry={() => void reload()} />;
  if (state !== 'ready') return <Skeleton lines={6} />;
  return (
    <Empty icon="chat" title={text.workspace.noModelTitle}>
      <p>{text.workspace.noModel}</p>
      <a class="button" href="/models">
        {text.workspace.toModels}
      </a>
    </Empty>
  );
}

function nameOf({ name, device, task }: Target): string {
  const choice = text.workspace.choice(brief(name, MOST), brief(device, MOST));
  return isOther(task) ? text.purposes.choice(choice, text.purposes.of[task]) : choice;
}
