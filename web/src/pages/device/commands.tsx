// The commands to a device, newest first, each with its explanation in the backend's words.

import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { ask, GET } from '../../data/client';
import { sentence } from '../../data/problem';
import { commands, commandsLoading, models, unwatchCommands, watchCommands } from '../../data/store';
import type { Command, CommandExplanation } from '../../data/types';
import { text } from '../../text';
import { Badge, Empty, Failed, Foreign, Outdated, Skeleton, Time, type Tone } from '../../ui/parts';

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
    </>
  );
}

function CommandRow({ command }: { command: Command }) {
  void models.revision.value;
  const open = useSignal(false);
  const model = command.model_id ? models.row(command.model_id)?.value.name : undefined;
  const [tone, words] = outcomeWords(command);
  return (
    <li>
      <details onToggle={(event) => (open.value = event.currentTarget.open)}>
        <summary>
          <span class="command-kind">{text.commands.kinds[command.type]}</span>
          {model && <Foreign class="soft">{model}</Foreign>}
          <Badge tone={tone}>{words}</Badge>
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
  const parts = [
    [text.commands.happened, happened],
    [text.commands.why, why],
    [text.commands.next, next],
  ] as const;
  return (
    <dl class="explanation">
      {parts.filter(([, words]) => words !== '').map(([name, words]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd dir="auto">{sentence(words)}</dd>
        </div>
      ))}
    </dl>
  );
}

function outcomeWords({ state, result }: Command): [Tone, string] {
  if (!result) return state === 'expired' ? ['bad', text.commands.states.expired] : ['busy', text.commands.states[state]];
  const { status } = result;
  const tone = status === 'succeeded' ? 'good' : status === 'failed' || status === 'rejected' ? 'bad' : 'quiet';
  return [tone, text.commands.results[status]];
}
