// How to begin: a line that brings the first device, a model, its deployment, a question. Each step leads to the next one. The
// key of the line is made when it is asked for.

import { useComputed, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

import { createKey, keys, useList } from '../../data/account';
import { findInstaller, installLine, supports, type Installer } from '../../data/install';
import { isValid } from '../../data/keys';
import { isOffered } from '../../data/model_name';
import { may } from '../../data/permission';
import { models } from '../../data/store';
import { reader } from '../../data/system';
import type { KeyCreated, Summary } from '../../data/types';
import { text } from '../../text';
import { inDays } from '../../text/until';
import { useAttempt } from '../../ui/busy';
import { now } from '../../ui/clock';
import { future } from '../../ui/exact_times';
import { FormError } from '../../ui/form_error';
import { Lacking, SystemChoice, Unpublished } from '../../ui/install_lines';
import { Skeleton } from '../../ui/parts';
import { CopyBox } from '../../ui/secret';
import { Arrivals } from '../add/arrivals';
import { keepMade, madeKeys } from '../add/made';

import '../add/add.css';

/** How long the key of the line can be used, in days. */
const GOOD_FOR = 1;

/** Whether a step is behind the person, is the one to take, or waits for the one before. */
type StepState = 'done' | 'now' | 'later';

/** Tells whether the way to the first answer has steps ahead: until a model is deployed. */
export function areAhead({ devices, models, deployments }: Summary): boolean {
  return devices.total === 0 || completeOf(models) === 0 || deployments.total === 0;
}

export function FirstSteps({ current }: { current: Summary }) {
  const words = text.overviewPage;
  const { devices, models: counts, deployments } = current;
  // The only model that can be deployed: nobody has to look for it.
  const only = useComputed(() => {
    void models.revision.value;
    const ready = models.all().filter((model) => model.ready && isOffered(model));
    return ready.length === 1 ? ready[0] : undefined;
  }).value;
  const behind = [devices.total > 0, completeOf(counts) > 0, deployments.serving > 0, false];
  const next = behind.indexOf(false);
  const made = madeKeys().length > 0;
  const stateOf = (step: number): StepState => (behind[step] ? 'done' : step === next ? 'now' : 'later');
  const adds = may('models:write') && counts.total === 0;
  return (
    <>
      <section class="card first-steps" id="first-steps">
        <h2>{words.welcome}</h2>
        <ol>
          <Step state={stateOf(0)} title={words.step1} body={words.step1Body} action={words.step1More} href="/devices/add">
            {(devices.total === 0 || made) && (may('keys:write') ? <Line /> : <p>{text.add.viewer}</p>)}
          </Step>
          <Step
            state={stateOf(1)}
            title={words.step2}
            body={counts.incomplete > 0 ? words.step2Incomplete(counts.incomplete) : words.step2Body}
            action={adds ? words.step2 : words.step2Action}
            href={adds ? '/models?open=add' : '/models'}
          />
          <Step
            state={stateOf(2)}
            title={words.step3}
            body={deployments.in_progress > 0 ? words.step3Progress : words.step3Body}
            action={deployments.in_progress > 0 ? words.step3Watch : words.step3Action}
            href={deployments.in_progress > 0 ? '/deployments' : only ? `/models/${only.model_id}?open=deploy` : '/models'}
          />
          <Step state={stateOf(3)} title={words.step4} body={words.step4Body} action={words.step4Action} href="/workspace" />
        </ol>
      </section>
      {made && <Arrivals />}
    </>
  );
}

function completeOf({ total, incomplete }: Summary['models']): number {
  return total - incomplete;
}

interface StepProps {
  state: StepState;
  title: string;
  body: string;
  action: string;
  href: string;
  children?: ComponentChildren;
}

function Step({ state, title, body, action, href, children }: StepProps) {
  return (
    <li class={state} aria-current={state === 'now' ? 'step' : undefined}>
      <div>
        <h3>
          {title}
          {state === 'done' && <span class="visually-hidden">: {text.add.stepDone}</span>}
        </h3>
        {state !== 'done' && <p class="soft">{body}</p>}
      </div>
      {children && <div class="step-body">{children}</div>}
      {/* The first step has a button of its own. */}
      <a class={state === 'now' && !children ? 'button primary' : 'button'} href={href}>
        {action}
      </a>
    </li>
  );
}

function Line() {
  const installer = useSignal<Installer | null>(null);
  const shown = useSignal<KeyCreated | null>(null);
  const copied = useSignal(false);
  const system = useSignal(reader());
  const { busy, fault, run } = useAttempt();
  useList(keys, may('keys:read'));
  const look = async (): Promise<Installer> => (installer.value = await findInstaller());
  useEffect(() => {
    void run(async () => void (await look()));
  }, []);
  // A key that nobody can use any more is not shown any more.
  const over = useComputed(() => {
    const info = shown.value?.info;
    return info !== undefined && (keys.rows.revision.value, !isValid(keys.rows.row(info.key_id)?.value ?? info, now.value));
  }).value;
  useEffect(() => {
    if (over) shown.value = null;
  }, [over]);
  const make = (): void => {
    void run(async () => {
      const found = await look();
      const created = await createKey({ kind: 'registration', name: text.overviewPage.title, tags: [], expires_at: inDays(GOOD_FOR) });
      copied.value = await copy(installLine(found, 'registration', 'line', created.key, system.peek()));
      shown.value = created;
      keepMade(created.info);
    });
  };
  const found = installer.value;
  if (!found && fault.value === '') return <Skeleton lines={2} />;
  const key = shown.value?.key;
  const possible = found !== null && supports(found, system.value);
  const line = possible ? installLine(found, 'registration', 'line', key, system.value) : '';
  return (
    <>
      {found && <SystemChoice system={system} />}
      {found && <Unpublished installer={found} />}
      {found && <Lacking installer={found} system={system.value} />}
      {possible && key !== undefined && <CopyBox key={system.value} value={line} label={text.add.lineOf} id="install-line" primary={false} />}
      {possible && key === undefined && (
        <div class="secret">
          <pre id="install-line" tabIndex={0} role="group" aria-label={text.add.lineOf} translate={false}>
            {line}
          </pre>
        </div>
      )}
      <FormError words={fault} />
      <div class="form-foot">
        <button type="button" class={key === undefined ? 'button primary' : 'button'} id="install-make" disabled={busy.value || (found !== null && !possible)} onClick={make}>
          {key === undefined ? text.overviewPage.step1Action : text.add.another}
        </button>
        <span role="status">
          {shown.value && `${copied.value ? `${text.admin.copied} ` : ''}${text.add.single(future(shown.value.info.expires_at ?? ''))}`}
        </span>
      </div>
    </>
  );
}

/** Copies a text, unless the browser refuses. */
async function copy(words: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(words);
    return true;
  } catch {
    return false;
  }
}
