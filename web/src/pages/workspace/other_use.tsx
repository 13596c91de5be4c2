// A model that is for no conversation: what it is for, and the request that works, for a terminal.

import { useSignal } from '@preact/signals';

import { reader, shellOf, type Shell } from '../../data/system';
import { text } from '../../text';
import { brief } from '../../text/visible';
import { Field } from '../../ui/choice';
import { CopyBox } from '../../ui/secret';
import { requestLine, type Other } from '../../workspace/lines';
import type { Target } from '../../workspace/targets';

import './files.css';
import '../../ui/records.css';

const SHELLS: readonly Shell[] = ['sh', 'powershell'];

export function OtherUse({ task, target }: { task: Other; target: Target }) {
  const shell = useSignal(shellOf(reader()));
  return (
    <section class="other-use" aria-labelledby="other-use">
      <h2 id="other-use">{text.purposes.noChat[task]}</h2>
      <p>{text.purposes.why[task]}</p>
      <p dir="auto">{text.purposes.try(brief(target.device))}</p>
      <Field
        label={text.purposes.terminal}
        control={(ties) => (
          <select {...ties} value={shell.value} onChange={(event) => (shell.value = event.currentTarget.value as Shell)}>
            {SHELLS.map((one) => (
              <option key={one} value={one}>
                {text.purposes.shells[one]}
              </option>
            ))}
          </select>
        )}
      />
      <CopyBox value={requestLine(task, shell.value, target.port, target.alias, text.purposes.words)} label={text.purposes.line} />
      <p class="soft">{text.purposes.other}</p>
    </section>
  );
}
