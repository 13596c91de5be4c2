// The same work on many devices, for one model or for several: first a preview of what it touches, in the backend's words,
// then an operation for each model. A start that is repeated, as after a cut, starts nothing twice.

import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';

import { idempotencyKey } from '../data/client';
import { begin, ended, plan } from '../data/operations';
import { Problem } from '../data/problem';
import type { Operation, OperationPlan, Work } from '../data/types';
import { text } from '../text';
import { useAttempt } from './busy';
import { Dialog, DialogForm } from './dialog';
import { FormError } from './form_error';
import { failure, notice } from './notices';
import { Badge, Foreign, Skeleton } from './parts';

/** One operation: its work and the devices, which are ids because a selection would be another one at the start. */
export interface Part {
  model: string;
  name: string;
  /** What differs from another part of the same model. */
  note?: string;
  work: Work;
  devices: string[];
}

interface Props {
  title: string;
  why: string;
  /** The words of the button that starts it. */
  action: (devices: number) => string;
  parts: readonly Part[];
  /** How many are left out because their device is updating, and the words for it, if they are no deployments. */
  left?: number;
  leftWords?: (count: number) => string;
  /** What has to be typed first, if something is lost. */
  typed?: string;
  close: () => void;
}

/** The code of a refusal because too many operations run. */
const QUOTA = 'quota-reached';
const MOST_SHOWN = 6;
const MOST_PARTS_SHOWN = 10;

export function ManyDialog({ title, why, action, parts, left = 0, leftWords = text.many.leftOut, typed, close }: Props) {
  // What was chosen when the dialog was opened, and nothing else: rows that come or change meanwhile are not in.
  const fixed = useRef(parts.map((part) => ({ ...part, key: idempotencyKey() })));
  const plans = useSignal<OperationPlan[] | null>(null);
  const { busy, fault, run } = useAttempt();
  const words = useSignal('');
  const done = useRef(0);
  /** The ends of the operations that this dialog has started and that run. */
  const under = useRef(new Set<Promise<void>>());
  /** How many have started, once the others have to wait. */
  const waits = useSignal<number | null>(null);
  const closed = useMemo(() => new AbortController(), []);
  const preview = (): void => {
    void run(async () => {
      const made: OperationPlan[] = [];
      for (const { work, devices } of fixed.current) {
        made.push(await plan(work, devices));
        if (closed.signal.aborted) return;
      }
      plans.value = made;
    });
  };
  useEffect(() => {
    preview();
    return () => closed.abort();
  }, []);
  const start = (): void => {
    void run(async () => {
      const all = fixed.current.length;
      try {
        for (const part of fixed.current.slice(done.current)) {
          const operation = closed.signal.aborted ? null : await beginInTurn(part, under.current, closed.signal, () => (waits.value = done.current));
          if (operation === null) break;
          done.current += 1;
          const end = follow(operation).finally(() => under.current.delete(end));
          under.current.add(end);
        }
      } finally {
        if (closed.signal.aborted && done.current < all) notice(text.many.left(done.current, all), 'bad');
      }
      if (done.current === all) notice(text.many.started(all, touched(plans.peek() ?? [])));
      if (!closed.signal.aborted) close();
    });
  };
  const total = touched(plans.value ?? []);
  const ready = plans.value === null || (total > 0 && (typed === undefined || words.value.trim() === typed));
  return (
    <Dialog title={title} close={close}>
      <DialogForm
        close={close}
        action={plans.value !== null ? action(total) : busy.value ? text.bulk.previewing : text.problems.retry}
        tone={plans.value === null || typed === undefined ? 'primary' : 'danger'}
        ready={ready && !busy.value}
        send={plans.value === null ? preview : start}
      >
        <p>{why}</p>
        {left > 0 && <p>{leftWords(left)}</p>}
        {plans.value === null && busy.value && <Skeleton lines={3} />}
        {plans.value && <Touched plans={plans.value} parts={fixed.current} total={total} />}
        {plans.value && typed !== undefined && (
          <div class="field">
            <label for="many-typed" dir="auto">
              {text.many.type(typed)}
            </label>
            <input id="many-typed" autocomplete="off" spellcheck={false} value={words} onInput={(event) => (words.value = event.currentTarget.value)} />
          </div>
        )}
        <p role="status">{waits.value !== null && text.many.waits(waits.value, fixed.current.length)}</p>
        <FormError words={fault} />
      </DialogForm>
    </Dialog>
  );
}

function Touched({ plans, parts, total }: { plans: OperationPlan[]; parts: readonly Part[]; total: number }) {
  if (total === 0) return <p role="status">{text.bulk.none}</p>;
  const shown = plans.slice(0, MOST_PARTS_SHOWN);
  return (
    <div class="touched">
      <p role="status">{text.many.touched(total, new Set(parts.map(({ model }) => model)).size)}</p>
      {shown.map(({ devices, first }, index) => (
        <div key={index} class="touched-group">
          <p>
            <Foreign class="strong">{parts[index]?.name ?? ''}</Foreign>{' '}
            <span class="soft">{[text.devices.count(devices), parts[index]?.note].filter(Boolean).join(', ')}</span>
          </p>
          <ul>
            {first.slice(0, MOST_SHOWN).map((device) => (
              <li key={device.device_id}>
                <Foreign>{device.name}</Foreign>
                {!device.online && <Badge tone="quiet">{text.bulk.offline}</Badge>}
              </li>
            ))}
          </ul>
          {devices > MOST_SHOWN && <p class="soft small">{text.bulk.andMore(devices - Math.min(first.length, MOST_SHOWN))}</p>}
        </div>
      ))}
      {plans.length > shown.length && <p class="soft small">{text.many.moreModels(plans.length - shown.length)}</p>}
    </div>
  );
}

function touched(plans: readonly OperationPlan[]): number {
  return plans.reduce((sum, { devices }) => sum + devices, 0);
}

/**
 * Starts an operation, as soon as the account may have one more. While it may not, one of those that run has to end first; if none
 * is of this dialog, the backend's refusal counts. Returns nothing once the dialog is closed.
 */
async function beginInTurn({ work, devices, key }: Part & { key: string }, running: ReadonlySet<Promise<void>>, closed: AbortSignal, waits: () => void): Promise<Operation | null> {
  for (;;) {
    try {
      return await begin(work, devices, key);
    } catch (error) {
      if (!(error instanceof Problem && error.code === QUOTA) || running.size === 0) throw error;
    }
    waits();
    await Promise.race([...running, new Promise<void>((resolve) => closed.addEventListener('abort', () => resolve(), { once: true }))]);
    if (closed.aborted) return null;
  }
}

/** Says how an operation ends. */
function follow(operation: Operation): Promise<void> {
  return ended(operation).then(({ counts }) => {
    notice(text.bulk.ended(counts.succeeded, counts.failed, counts.skipped), counts.failed > 0 ? 'bad' : 'good');
  }, failure);
}

/** Groups things by model into parts, a device once for each model. */
export function partsOf(
  things: readonly { model_id: string; device_id: string }[],
  nameOf: (model: string) => string,
  workOf: (model: string) => Work,
): Part[] {
  const groups = new Map<string, Set<string>>();
  for (const { model_id: model, device_id: device } of things) {
    const group = groups.get(model);
    if (group) group.add(device);
    else groups.set(model, new Set([device]));
  }
  return [...groups].map(([model, devices]) => ({ model, name: nameOf(model), work: workOf(model), devices: [...devices] }));
}
