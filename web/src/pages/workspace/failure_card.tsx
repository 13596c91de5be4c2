// The card of a failure: its cause, what can be done, and what was looked at.

import { useEffect, useRef } from 'preact/hooks';

import { stateOf } from '../../data/selection';
import { devices } from '../../data/store';
import { text } from '../../text';
import { visible } from '../../text/visible';
import { browserPolicy } from '../../ui/browser_policy';
import { Prose } from '../../ui/prose';
import { permitted, whoCanHelp } from '../../workspace/permitted';
import { CopyButton } from './answer';
import { failed, mend, remedy, resume, type Failure } from './failures';
import { target } from './state';

import './failure_card.css';

export function FailureCard() {
  const failure = failed.value;
  // What is said about one model is not about another.
  if (!failure || failure.target.id !== target.value?.id) return null;
  return <Card key={failure.cause.code} failure={failure} />;
}

/** Sends the request again once the model that has been away answers again. */
function useReturn(failure: Failure): void {
  const isAway = useRef(false);
  const absent = target.value?.absent ?? null;
  useEffect(() => {
    if (absent !== null) isAway.current = true;
    else if (isAway.current) {
      isAway.current = false;
      void resume();
    }
  }, [absent, failure]);
}

function Card({ failure }: { failure: Failure }) {
  const { cause, facts } = failure;
  const card = useRef<HTMLElement>(null);
  useEffect(() => card.current?.scrollIntoView?.({ block: 'nearest' }), [failure]);
  useReturn(failure);
  const { words, busy } = remedy.value;
  const device = devices.row(failure.target.deviceId)?.value;
  const updating = device !== undefined && stateOf(device) === 'updating';
  // The models of a device have no controls while it updates.
  const actions = updating ? cause.actions.filter((action) => action === 'retry') : cause.actions;
  const help = updating ? text.workspace.absentWhy.updating : whoCanHelp(actions);
  return (
    <article ref={card} class={cause.code === 'engine-loading' ? 'cause mild' : 'cause'} data-cause={cause.code}>
      <div role="alert" class="cause-words">
        <h2>
          <Prose words={cause.title} />
        </h2>
        <p dir="auto">
          <Prose words={cause.detail} />
        </p>
        <p class="soft" dir="auto">
          <Prose words={cause.remedy} />
        </p>
        {failure.waits && <p class="soft">{text.remedies.waits}</p>}
      </div>
      {cause.code.startsWith('local-network') && <HowToAllow origin={facts.page.origin} />}
      <div class="remedies" role="group" aria-label={text.remedies.group}>
        {permitted(actions).map((action, index) => (
          <button
            key={action}
            type="button"
            class={index === 0 ? 'button primary' : 'button'}
            data-action={action}
            aria-disabled={busy}
            onClick={() => void mend(action)}
          >
            {text.remedies[action]}
          </button>
        ))}
        {help !== '' && <p>{help}</p>}
        <p class="soft progress-words" role="status" dir="auto">
          <Prose words={words} />
        </p>
      </div>
      <Checked facts={facts} />
    </article>
  );
}

/** How to give the permission, how to do without, and the policy for administrators. */
function HowToAllow({ origin }: { origin: string }) {
  const policy = browserPolicy(origin);
  const { port } = new URL(origin);
  return (
    <div class="how-to">
      <h3>{text.localNetwork.steps}</h3>
      <ol>
        {text.localNetwork.step.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <p>{text.localNetwork.around(port === '' ? '' : `:${port}`)}</p>
      <details>
        <summary>{text.localNetwork.administrators}</summary>
        <p>{text.localNetwork.policy}</p>
        <div class="policy">
          <pre tabIndex={0}>{policy}</pre>
          <CopyButton words={policy} label={text.localNetwork.copyPolicy} />
        </div>
      </details>
    </div>
  );
}

/** What was looked at, for whoever wants to know or to pass it on. */
function Checked({ facts }: { facts: Failure['facts'] }) {
  const { page, reachable, permission, backend, device, deployment, allowlist, request, target } = facts;
  const { checks } = text;
  const rows: [string, string][] = [
    [checks.page, `${page.origin}${page.secure ? '' : ` ${checks.insecure}`}`],
    [checks.browser, request.message ?? '–'],
    ...(request.status ? [[checks.device, `${request.status} ${request.code ?? ''}`] as [string, string]] : []),
    [`127.0.0.1:${target.port}`, reachable ? checks.answers : checks.silent],
    [checks.permission, page.loopback ? checks.notNeeded : (permission ?? checks.noPermission)],
    [checks.backend, backend ? checks.answers : checks.silent],
    [target.device, device ? (device.online ? checks.online : checks.offline) : checks.unknown],
    [target.model, deployment ? deployment.state.replace('_', ' ') : checks.unknown],
    [checks.allowlist, deployment ? (deployment.stale ? checks.stale : checks.current) : checks.unknown],
    [checks.currentList, allowlist ? allowlist.join(', ') || checks.empty : checks.unknown],
  ];
  return (
    <details class="checked">
      <summary>{checks.title}</summary>
      <dl>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt dir="auto">{visible(name)}</dt>
            <dd dir="auto">{visible(value)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
