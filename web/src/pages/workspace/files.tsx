// Files for a model that transcribes or classifies: dropped or chosen, and what came of them.

import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';

import { text } from '../../text';
import { bytes } from '../../text/format';
import { brief } from '../../text/visible';
import { Confirm } from '../../ui/dialog';
import { download } from '../../ui/download';
import { Icon } from '../../ui/icon';
import { Foreign, Meter } from '../../ui/parts';
import { BODY_LIMIT_MB } from '../../workspace/causes';
import { ACCEPTS, resultsAsJson, timecode, type FileTask, type Label, type Outcome } from '../../workspace/files';
import { readable } from '../../workspace/plain';
import type { Target } from '../../workspace/targets';
import { CopyButton } from './answer';
import { FailureCard } from './failure_card';
import { announced, ended, forgetSent, isUnderWay, results, sendAgain, sendAll, sent, stopSending, type Sent } from './sending';

import './files.css';

export function Files({ task, target }: { task: FileTask; target: Target }) {
  const over = useSignal(false);
  const picker = useRef<HTMLInputElement>(null);
  const blocked = target.absent !== null;
  const take = (files: FileList | null | undefined): void => {
    if (files && !blocked) sendAll(files, task, target);
  };
  const dropped = (event: DragEvent): void => {
    event.preventDefault();
    over.value = false;
    take(event.dataTransfer?.files);
  };
  const dragged = (event: DragEvent): void => {
    event.preventDefault();
    over.value = !blocked;
    if (blocked && event.dataTransfer) event.dataTransfer.dropEffect = 'none';
  };
  const picked = (event: Event): void => {
    const input = event.currentTarget as HTMLInputElement;
    take(input.files);
    input.value = '';
  };
  return (
    <div class="files">
      <div class={['drop', over.value && 'over', blocked && 'blocked'].filter(Boolean).join(' ')} onDragOver={dragged} onDragLeave={() => (over.value = false)} onDrop={dropped}>
        <p class="drop-title">{text.dropped.drop[task]}</p>
        <p class="soft small" id="kinds">
          {text.dropped.kinds[task]}, {text.dropped.most(BODY_LIMIT_MB)}
        </p>
        <input
          ref={picker}
          id="file"
          type="file"
          class="visually-hidden"
          multiple
          tabIndex={-1}
          aria-label={text.dropped.choose}
          accept={ACCEPTS[task]}
          onChange={picked}
        />
        <button type="button" class="button primary" aria-describedby="kinds" aria-disabled={blocked} onClick={() => !blocked && picker.current?.click()}>
          {text.dropped.choose}
        </button>
      </div>
      <FailureCard />
      <p class="visually-hidden" role="status">
        {announced}
      </p>
      <AllResults />
      {sent.value.length > 0 && (
        <ul class="results" aria-label={text.dropped.results}>
          {sent.value.map((one) => (
            <Result key={one.id} one={one} target={target} />
          ))}
        </ul>
      )}
    </div>
  );
}

/** What can be done with all results at once. They are on this page alone, so clearing them is asked for. */
function AllResults() {
  // The files that had ended when the question was asked: what comes of another one meanwhile is not lost unseen.
  const clearing = useSignal<readonly Sent[] | null>(null);
  const all = ended();
  const found = results(all);
  const forget = (files: readonly Sent[]): void => {
    clearing.value = null;
    forgetSent(...files.map(({ id }) => id));
    // After the dialog, under which nothing takes the focus.
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.drop button')?.focus());
  };
  const asked = clearing.value;
  return (
    <>
      {all.length > 0 && (
        <div class="turn-actions">
          {found.length > 0 && (
            <button type="button" class="button quiet small" onClick={() => download('results.json', 'application/json', resultsAsJson(found))}>
              <Icon name="download" />
              {text.dropped.exportAll(found.length)}
            </button>
          )}
          <button type="button" class="button quiet small" onClick={() => (found.length > 0 ? (clearing.value = all) : forget(all))}>
            {text.dropped.clear}
          </button>
        </div>
      )}
      {asked && (
        <Confirm title={text.dropped.clearTitle} action={text.dropped.clearConfirm} close={() => (clearing.value = null)} act={() => forget(asked)}>
          <p>{text.dropped.clearBody(results(asked).length)}</p>
        </Confirm>
      )}
    </>
  );
}

function Result({ one, target }: { one: Sent; target: Target }) {
  const busy = isUnderWay(one);
  const again = target.task === one.task && target.absent === null && !busy;
  return (
    <li class="result" data-state={one.state}>
      <div class="result-head">
        <Foreign class="result-name">{one.file.name}</Foreign>
        <span class="soft small number">{bytes(one.file.size)}</span>
        <Foreign class="soft small">{one.model}</Foreign>
        <span class="spacer" />
        {again && (
          <button type="button" class="button quiet small" onClick={() => sendAgain(one.id, target)}>
            {text.dropped.again}
          </button>
        )}
        {!busy && (
          <button
            type="button"
            class="icon-button"
            aria-label={text.dropped.remove(brief(one.file.name, 80))}
            onClick={() => {
              forgetSent(one.id);
              document.querySelector<HTMLElement>('.drop button')?.focus();
            }}
          >
            <Icon name="close" />
          </button>
        )}
      </div>
      {busy && (
        <p class="soft">
          {one.state === 'waiting' ? text.dropped.waiting : text.dropped.working[one.task]}{' '}
          <button type="button" class="button quiet small" onClick={() => stopSending(one.id)}>
            {text.dropped.stop}
          </button>
        </p>
      )}
      {one.state === 'stopped' && <p class="soft">{text.dropped.stopped}</p>}
      <div class="result-body">
        {one.task === 'images' && <Preview file={one.file} />}
        {one.outcome && <Shown outcome={one.outcome} name={one.file.name} />}
      </div>
    </li>
  );
}

function Preview({ file }: { file: File }) {
  const address = useMemo(() => URL.createObjectURL(file), [file]);
  useEffect(() => () => URL.revokeObjectURL(address), [address]);
  return <img class="preview" loading="lazy" src={address} alt={text.dropped.preview(brief(file.name))} />;
}

function Shown({ outcome, name }: { outcome: Outcome; name: string }) {
  switch (outcome.kind) {
    case 'transcript':
      return <Transcript outcome={outcome} name={name} />;
    case 'image':
      return outcome.labels.length === 0 ? <p>{text.dropped.nothing}</p> : <Labels labels={outcome.labels} words={percent} />;
    case 'sound':
      return <Sound outcome={outcome} />;
  }
}

function Transcript({ outcome: { words, segments }, name }: { outcome: Extract<Outcome, { kind: 'transcript' }>; name: string }) {
  if (words === '') return <p>{text.dropped.noSpeech}</p>;
  return (
    <div class="transcript">
      <p class="words" dir="auto">
        {readable(words)}
      </p>
      <div class="turn-actions">
        <CopyButton words={words} label={text.workspace.copy} />
        <button type="button" class="button quiet small" onClick={() => download(`${name}.txt`, 'text/plain;charset=utf-8', `${words}\n`)}>
          {text.dropped.download}
        </button>
      </div>
      {segments.length > 1 && (
        <details>
          <summary>{text.dropped.segments}</summary>
          <ol class="times">
            {segments.map(({ start, end, words: said }, index) => (
              <li key={index}>
                <span class="number soft">
                  {timecode(start)} – {timecode(end)}
                </span>{' '}
                <span dir="auto">{readable(said)}</span>
              </li>
            ))}
          </ol>
        </details>
      )}
    </div>
  );
}

function Sound({ outcome: { segments, shares } }: { outcome: Extract<Outcome, { kind: 'sound' }> }) {
  if (segments.length === 0) return <p>{text.dropped.nothing}</p>;
  return (
    <div class="sound">
      <Labels labels={shares} words={(score) => text.dropped.share(percent(score))} />
      <table tabIndex={0}>
        <caption class="visually-hidden">{text.dropped.segments}</caption>
        <thead>
          <tr>
            <th scope="col">{text.dropped.label}</th>
            <th scope="col">{text.dropped.start}</th>
            <th scope="col">{text.dropped.end}</th>
            <th scope="col">{text.dropped.score}</th>
          </tr>
        </thead>
        <tbody>
          {segments.map(({ label, start, end, score }, index) => (
            <tr key={index}>
              <td>
                <Foreign>{label}</Foreign>
              </td>
              <td class="number">{timecode(start)}</td>
              <td class="number">{timecode(end)}</td>
              <td class="number">{percent(score)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Labels({ labels, words }: { labels: readonly Label[]; words: (score: number) => string }) {
  return (
    <ul class="labels" aria-label={text.dropped.labels}>
      {labels.map(({ label, score }, index) => (
        <li key={index}>
          <Foreign>{label}</Foreign>
          <Meter share={score} label={words(score)} tone="good" />
        </li>
      ))}
    </ul>
  );
}

function percent(score: number): string {
  return `${(score * 100).toFixed(score > 0.9995 || score < 0.0005 ? 0 : 1)} %`;
}
