// The commands to a device, newest first, each with its explanation in the backend's words.

import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { ask, GET } from '../../data/client';
import { modelName } from '../../data/names';
import { commands, commandsLoading, loadOlderCommands, olderCommands, unwatchCommands, watchCommands } from '../../data/store';
import type { Command, CommandExplanation } from '../../data/types';
import { text } from '../../text';
import { moment } from '../../text/format';
import { sentence } from '../../text/visible';
import { CommandBadge } from '../../ui/command_badge';
import { failure } from '../../ui/notices';
import { Empty, Failed, Foreign, Outdated, Skeleton, Time } from '../../ui/parts';
import { Prose } from '../../ui/prose';

export function Commands({ deviceId }: { deviceId: string }) {
  const loading = commandsLoading.value;
  useEffect(() => {
    void watchCommands(deviceId);
    return unwatchCommands;
  }, []);
  const shown = useComputed(() => {
    void commands.revision.value;
    const all = commands.all().filter((command) => command.device_id === deviceId);
    return all.sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
  }).value;
  const retry = (): void => void watchCommands(deviceId);
  if (loading.state === 'failed' && shown.length === 0) {
    return <Failed title={text.commands.failedTitle} error={loading.error} retry={retry} />;
  }
  if (shown.length === 0) {
    if (loading.state === 'idle' || loading.state === 'loading') return <Skeleton lines={5} />;
    return (
      <Empty icon="book" title={text.commands.nothingTitle}>
        <p>{text.commands.nothing}</p>
      </Empty>
    );
  }
  return (
    <>
      {loading.state === 'failed' && <Outdated title={text.commands.failedTitle} error={loading.error} retry={retry} />}
      <ul class="command-list" aria-label={text.commands.list}>
        {shown.map((command) => (
          <CommandRow key={command.command_id} command={command} />
        ))}
      </ul>
      {olderCommands.value !== null && <Older />}
    </>
  );
}

function Older() {
  const busy = useSignal(false);
  const more = async (): Promise<void> => {
    busy.value = true;
    await loadOlderCommands().catch(failure);
    busy.value = false;
  };
  return (
    <button type="button" class="button quiet" disabled={busy} onClick={() => void more()}>
      {text.commands.older}
    </button>
  );
}

function CommandRow({ command }: { command: Command }) {
  const open = useSignal(false);
  const model = command.model_id ? modelName(command.model_id, '') : '';
  return (
    <li>
      <details onToggle={(event) => (open.value = event.currentTarget.open)}>
        <summary>
          <span class="command-kind">{text.commands.kinds[command.type]}</span>
          {model && <Foreign class="soft">{model}</Foreign>}
          <CommandBadge command={command} />
          <span class="spacer" />
          <span class="soft small">
            <Time at={command.created_at} />
          </span>
        </summary>
        {open.value && <Explanation command={command} />}
      </details>
    </li>
  );
}

function Explanation({ command }: { command: Command }) {
  const loaded = useSignal<CommandExplanation | null>(null);
  const failed = useSignal<unknown>(null);
  const attempt = useSignal(0);
  const version = `${command.state} ${command.result?.status ?? ''} ${attempt.value}`;
  useEffect(() => {
    failed.value = null;
    const params = { path: { command_id: command.command_id } };
    ask(GET('/api/v1/commands/{command_id}/explanation', { params })).then(
      (explanation) => (loaded.value = explanation),
      (error: unknown) => (failed.value = error),
    );
  }, [version]);
  if (failed.value !== null) {
    return <Failed title={text.commands.failedTitle} error={failed.value} retry={() => (attempt.value += 1)} />;
  }
  if (!loaded.value) return <Skeleton lines={2} />;
  const { happened, why, next } = loaded.value;
  // What the stream has said since is newer than the answer.
  const explained = { ...loaded.value, command };
  const parts = [
    [text.commands.happened, happened],
    [text.commands.why, why],
    [text.commands.next, next],
  ] as const;
  return (
    <>
      <Timeline explained={explained} />
      <dl class="explanation">
        {parts.filter(([, words]) => words !== '').map(([name, words]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd dir="auto">
              <Prose words={sentence(words)} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** What has become of a command so far, each step with its time where that is known, and what is still expected. */
function Timeline({ explained }: { explained: CommandExplanation }) {
  return (
    <ol class="timeline" aria-label={text.commands.timeline}>
      {stepsOf(explained).map(({ words, at, done }) => (
        <li key={words} class={done ? 'done' : 'soft'}>
          {words}
          {at != null && (
            <time class="soft small number" dateTime={at}>
              {moment(at)}
            </time>
          )}
        </li>
      ))}
    </ol>
  );
}

interface Step {
  words: string;
  at?: string | null | undefined;
  done: boolean;
}

function stepsOf({ command, stage, deliveries, next_delivery_at: next }: CommandExplanation): Step[] {
  const { created_at: created, expires_at: expires, result, state } = command;
  const steps: Step[] = [{ words: text.commands.steps.sent, at: created, done: true }];
  if (deliveries > 0) steps.push({ words: text.commands.steps.delivered(deliveries), done: true });
  const open = !result && state === 'sent';
  if (open) steps.push({ words: deliveries > 0 ? text.commands.steps.again : text.commands.steps.delivery, at: next, done: false });
  if (state === 'processed') steps.push({ words: text.commands.steps.acknowledged, done: true });
  if (result) steps.push({ words: text.commands.results[result.status], at: result.reported_at, done: true });
  else if (state === 'expired') steps.push({ words: text.commands.states.expired, at: expires, done: true });
  else if (stage === 'acknowledged') steps.push({ words: text.commands.steps.result, done: false });
  else steps.push({ words: text.commands.steps.expires, at: expires, done: false });
  return steps;
}
