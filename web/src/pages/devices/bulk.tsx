// What is done to all selected devices: first a preview of what it touches, then the operation, then how it ended.

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';

import { idempotencyKey } from '../../data/client';
import { begin, ended, plan } from '../../data/operations';
import { may } from '../../data/permission';
import type { Device, OperationPlan, Work } from '../../data/types';
import { text } from '../../text';
import { useAttempt } from '../../ui/busy';
import { Dialog } from '../../ui/dialog';
import { FormError } from '../../ui/form_error';
import { useLost } from '../../ui/lost';
import { failure, notice } from '../../ui/notices';
import { useCalm } from '../../ui/lasting';
import { Badge, Foreign } from '../../ui/parts';
import { VersionField } from '../../ui/version_field';
import { MoreActions, type MoreKind } from './bulk_more';

import './bulk.css';

type Kind = 'tag' | 'untag' | 'update';
const KINDS: readonly Kind[] = ['update', 'tag', 'untag'];
const MOST_SHOWN = 8;

interface Props {
  devices: readonly Device[];
  /** How many devices are ticked, whether they are shown or not. */
  ticked: number;
  unselect: () => void;
}

/** The bar stays while a dialog of it is open: a device that leaves the list by itself takes no dialog with it. */
export function BulkBar({ devices, ticked, unselect }: Props) {
  const kind = useSignal<Kind | null>(null);
  const more = useSignal<MoreKind | null>(null);
  const selected = useCalm(text.devices.selected(devices.length), String(ticked));
  // The devices that were ticked when the dialog was opened, and no others: rows that come or change meanwhile are not in.
  const targets = useRef<string[]>([]);
  useLost(may('devices:operate'), () => (kind.value = null));
  const open = (wanted: Kind): void => {
    targets.current = devices.map((device) => device.device_id);
    kind.value = wanted;
  };
  if (devices.length === 0 && kind.value === null && more.value === null) return null;
  return (
    <div class="bulk" role="region" aria-label={text.bulk.bar}>
      <strong class="number" role="status">
        {selected}
      </strong>
      {!may('devices:operate') && <span>{text.bulk.refused}</span>}
      <MoreActions kind={more} devices={devices} unselect={unselect}>
        {may('devices:operate') && KINDS.map((one) => (
          <button key={one} type="button" class="button" onClick={() => open(one)}>
            {text.bulk[one]}
          </button>
        ))}
      </MoreActions>
      <span class="spacer" />
      <button type="button" class="button quiet" onClick={unselect}>
        {text.devices.unselect}
      </button>
      {kind.value && <BulkDialog kind={kind.value} targets={targets.current} close={() => (kind.value = null)} />}
    </div>
  );
}

function BulkDialog({ kind, targets, close }: { kind: Kind; targets: string[]; close: () => void }) {
  const work = useSignal<Work | null>(null);
  const planned = useSignal<OperationPlan | null>(null);
  const { busy, fault, run: attempt } = useAttempt();
  /** One for each preview: the same operation may be wanted again later. */
  const key = useRef('');
  const preview = (event: SubmitEvent): void => {
    event.preventDefault();
    const words = String(new FormData(event.currentTarget as HTMLFormElement).get('words'));
    const wanted = workOf(kind, words);
    void attempt(async () => {
      planned.value = await plan(wanted, targets);
      work.value = wanted;
      key.current = idempotencyKey();
    });
  };
  const run = (): void => {
    const wanted = work.peek();
    if (!wanted) return;
    void attempt(async () => {
      const operation = await begin(wanted, targets, key.current);
      notice(text.bulk.started(operation.devices));
      close();
      ended(operation).then(({ counts }) => {
        const words = text.bulk.ended(counts.succeeded, counts.failed, counts.skipped);
        notice(words, counts.failed > 0 ? 'bad' : 'good');
      }, failure);
    });
  };
  const changed = (): void => void (planned.value = null);
  return (
    <Dialog title={text.bulk.titles[kind]} close={close}>
      <form onSubmit={preview}>
        <div class="dialog-body">
          {kind === 'update' ? <VersionField id="bulk-words" name="words" changed={changed} /> : <TagsField changed={changed} />}
          {planned.value && <Touched plan={planned.value} />}
          <FormError words={fault} />
        </div>
        <div class="dialog-foot">
          <button type="button" class="button" onClick={close}>
            {text.bulk.cancel}
          </button>
          {planned.value ? (
            <button type="button" class="button primary" disabled={busy.value || planned.value.devices === 0} onClick={run}>
              {text.bulk.run(planned.value.devices)}
            </button>
          ) : (
            <button type="submit" class="button primary" disabled={busy}>
              {busy.value ? text.bulk.previewing : text.bulk.preview}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

function TagsField({ changed }: { changed: () => void }) {
  return (
    <div class="field">
      <label for="bulk-words">{text.bulk.tags}</label>
      <input id="bulk-words" name="words" required autofocus autocomplete="off" spellcheck={false} aria-describedby="bulk-words-hint" onInput={changed} />
      <p class="hint" id="bulk-words-hint">
        {text.bulk.tagsHint}
      </p>
    </div>
  );
}

function Touched({ plan: { devices, first } }: { plan: OperationPlan }) {
  if (devices === 0) return <p role="status">{text.bulk.none}</p>;
  const shown = first.slice(0, MOST_SHOWN);
  return (
    <div class="touched">
      <p role="status">{text.bulk.touched(devices)}</p>
      <ul>
        {shown.map((device) => (
          <li key={device.device_id}>
            <Foreign>{device.name}</Foreign>
            {!device.online && <Badge tone="quiet">{text.bulk.offline}</Badge>}
          </li>
        ))}
      </ul>
      {devices > shown.length && <p class="soft small">{text.bulk.andMore(devices - shown.length)}</p>}
    </div>
  );
}

function workOf(kind: Kind, words: string): Work {
  if (kind === 'update') return { kind, version: words.trim() };
  const tags = words.split(',').map((tag) => tag.trim()).filter(Boolean);
  return { kind, tags };
}
