// What can be done to an operation: cancel it, or retry it where it has failed. Each asks first and happens once.

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';

import { operations } from '../../data/operator';
import { ask, POST } from '../../data/client';
import { may, noteRefusal } from '../../data/permission';
import type { Operation } from '../../data/types';
import { text } from '../../text';
import { visible } from '../../text/visible';
import { Dialog } from '../../ui/dialog';
import { FormError } from '../../ui/form_error';
import { notice } from '../../ui/notices';
import { permissionFor, workWords } from './words';

type Kind = 'cancel' | 'retry';

export function OperationActions({ operation }: { operation: Operation }) {
  const open = useSignal<Kind | null>(null);
  const { counts, state, work } = operation;
  if (!may(permissionFor(work))) return null;
  const name = visible(workWords(work));
  const canCancel = state === 'running' && counts.pending > 0;
  return (
    <div class="row-actions">
      {canCancel && (
        <button type="button" class="button" aria-label={text.list.actionOn(text.works.cancel, name)} onClick={() => (open.value = 'cancel')}>
          {text.works.cancel}
        </button>
      )}
      {counts.failed > 0 && (
        <button type="button" class="button" aria-label={text.list.actionOn(text.works.retry(counts.failed), name)} onClick={() => (open.value = 'retry')}>
          {text.works.retry(counts.failed)}
        </button>
      )}
      {open.value && <Question kind={open.value} operation={operation} close={() => (open.value = null)} />}
    </div>
  );
}

function Question({ kind, operation, close }: { kind: Kind; operation: Operation; close: () => void }) {
  const busy = useSignal(false);
  const fault = useSignal('');
  const running = useRef(false);
  const cancels = kind === 'cancel';
  const run = async (): Promise<void> => {
    if (running.current) return;
    running.current = busy.value = true;
    fault.value = '';
    const params = { path: { operation_id: operation.operation_id } };
    try {
      const changed = await ask(
        cancels ? POST('/api/v1/operations/{operation_id}/cancel', { params }) : POST('/api/v1/operations/{operation_id}/retry', { params }),
      );
      operations.rows.changed(changed);
      notice(cancels ? text.works.cancelled : text.works.retried);
      close();
    } catch (error) {
      noteRefusal(error);
      fault.value = error instanceof Error ? error.message : text.problems.unknown;
    } finally {
      running.current = busy.value = false;
    }
  };
  return (
    <Dialog title={cancels ? text.works.cancelTitle : text.works.retryTitle} close={close}>
      <div class="dialog-body">
        <p>
          <strong dir="auto">{visible(workWords(operation.work))}</strong>
        </p>
        <p>{cancels ? text.works.cancelWhy(operation.counts.pending) : text.works.retryWhy(operation.counts.failed)}</p>
        <FormError words={fault} />
      </div>
      <div class="dialog-foot">
        <button type="button" class="button" onClick={close}>
          {cancels ? text.works.keep : text.dialog.cancel}
        </button>
        <button type="button" class={cancels ? 'button danger' : 'button primary'} disabled={busy} onClick={() => void run()}>
          {cancels ? text.works.cancelRun : text.works.retryRun(operation.counts.failed)}
        </button>
      </div>
    </Dialog>
  );
}
