// A model on another port: a repair moves one that serves, and a start one that its device has given up.

import { text } from '../../text';
import { brief } from '../../text/visible';
import { Field } from '../../ui/choice';
import { Dialog } from '../../ui/dialog';

interface Props {
  name: string;
  port: number;
  /** Whether the model serves: then a repair moves it, else a start does. */
  serves: boolean;
  close: () => void;
  move: (port: number) => void;
}

export function PortDialog({ name, port, serves, close, move }: Props) {
  const sent = (event: SubmitEvent): void => {
    event.preventDefault();
    const chosen = new FormData(event.currentTarget as HTMLFormElement).get('port');
    move(Number(chosen));
  };
  return (
    <Dialog title={text.models.moveTitle(brief(name, 60))} close={close}>
      <form onSubmit={sent}>
        <div class="dialog-body">
          <p dir="auto">{serves ? text.models.moveBody(name) : text.models.moveStart(name)}</p>
          <Field
            label={text.models.movePortField}
            hint={text.models.movePortHint}
            control={(ties) => <input {...ties} name="port" type="number" required min="1" max="65535" step="1" defaultValue={String(port)} />}
          />
        </div>
        <div class="dialog-foot">
          <button type="button" class="button" onClick={close}>
            {text.dialog.cancel}
          </button>
          <button type="submit" class="button primary">
            {text.models.moveConfirm}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
