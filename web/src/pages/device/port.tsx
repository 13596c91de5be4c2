// The repair of a model on another port.

import { text } from '../../text';
import { brief } from '../../text/visible';
import { Field } from '../../ui/choice';
import { Dialog } from '../../ui/dialog';

interface Props {
  name: string;
  port: number;
  close: () => void;
  move: (port: number) => void;
}

export function PortDialog({ name, port, close, move }: Props) {
  const sent = (event: SubmitEvent): void => {
    event.preventDefault();
    const chosen = new FormData(event.currentTarget as HTMLFormElement).get('port');
    move(Number(chosen));
  };
  return (
    <Dialog title={text.models.moveTitle(brief(name, 60))} close={close}>
      <form onSubmit={sent}>
        <div class="dialog-body">
          <p dir="auto">{text.models.moveBody(name)}</p>
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
