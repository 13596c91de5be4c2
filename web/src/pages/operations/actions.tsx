// What can be done to an operation: cancel it, or retry it where it has failed. Each asks first and happens once.

import { useSignal } from '@preact/signals';

import { operations } from '../../data/operator';
import { ask, POST } from '../../data/client';
import { may } from '../../data/permission';
import type { Operation } from '../../data/types';
import { text } from '../../text';
import { visible } from '../../text/visible';
import { useAttempt } from '../../ui/busy';
import { Dialog, DialogForm } from '../../ui/dialog';
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
  const { busy, fault, run } = useAttempt();
  const cancels = kind === 'cancel';
  const send = (): void => {
    const params = { path: { operation_id: operation.operation_id } };
    void run(async () => {
      const changed = await ask(
        cancels ? POST('/api/v1/operations/{operation_id}/cancel', { params }) : POST('/api/v1/operations/{operation_id}/retry', { params }),
      );
      operations.rows.changed(changed);
      notice(cancels ? text.works.cancelled : text.works.retried);
      close();
    });
  };
  return (
    <Dialog title={cancels ? text.works.cancelTitle : text.works.retryTitle} close={close}>
      <DialogForm
        close={close}
        action={cancels ? text.works.cancelRun : text.works.retryRun(operation.counts.failed)}
        tone={cancels ? 'danger' : 'primary'}
        cancel={cancels ? text.works.keep : text.dialog.cancel}
        ready={!busy.value}
        send={send}
      >
        <p>
          <strong dir="auto">{visible(workWords(operation.work))}</strong>
        </p>
        <p>{cancels ? text.works.cancelWhy(operation.counts.pending) : text.works.retryWhy(operation.counts.failed)}</p>
        <FormError words={fault} />
      </DialogForm>
    </Dialog>
  );
}
