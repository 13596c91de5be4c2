// A key that does not stand in the line: it is pasted at a prompt, or put on the device as a file.

import { KEY_FILE, type How } from '../../data/install';
import { text } from '../../text';
import { download } from '../../ui/download';
import { Icon } from '../../ui/icon';
import { CopyBox } from '../../ui/secret';

export function KeyBeside({ value, how }: { value: string; how: How }) {
  return (
    <>
      <CopyBox value={value} label={text.add.keyOf} id="install-key" primary={false} />
      {how === 'file' && (
        <div>
          <button type="button" class="button" onClick={() => download(KEY_FILE, 'text/plain', `${value}\n`)}>
            <Icon name="download" />
            {text.add.saveKey}
          </button>
        </div>
      )}
      <p class="hint">{how === 'file' ? text.add.saveHint(KEY_FILE) : text.add.promptHint}</p>
    </>
  );
}
