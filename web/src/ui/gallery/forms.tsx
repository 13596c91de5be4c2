// What asks, chooses or saves, in each of its states.

import { useSignal } from '@preact/signals';

import type { Installer } from '../../data/install';
import type { Loading } from '../../data/store';
import { reader, SYSTEMS } from '../../data/system';
import { ActionGroup } from '../action_group';
import { Combobox, type Choosable } from '../combobox';
import { Confirm } from '../dialog';
import { ExportButton } from '../export';
import { Filled } from '../filled';
import { Lacking, SystemChoice, Unpublished } from '../install_lines';
import { KeyFields } from '../key_fields';
import { Gone } from '../lazy';
import { Menu } from '../menu';
import { Refused } from '../refused';
import { SearchField } from '../search_field';
import { Tags } from '../tags';
import { Part } from './part';

const LOADED: Loading = { state: 'ready', error: null };
const PARTLY: Loading = { state: 'loading', error: null };
const INSTALLER: Installer = {
  release: { version: '1.3.0', channel: 'stable' },
  systems: SYSTEMS.map((system) => ({ system, shell: 'sh', fleet_line: '', registration_line: '', released: system === 'linux' })),
};
const NAME = 'made-up';
const MODELS: readonly Choosable[] = Array.from({ length: 12 }, (_, at) => ({ id: `${at}`, words: `phi-4-mini on ward-${at}`, found: `phi-4-mini ward-${at}` }));

export function Forms() {
  const system = useSignal(reader());
  const asks = useSignal(false);
  const typed = useSignal('');
  const close = (): void => {
    asks.value = false;
  };
  return (
    <>
      <Part title="Menu">
        <Menu label="Columns" icon="columns" body={(done) => <button type="button" class="button quiet" onClick={done}>Done</button>} />
        <Menu label="More" named="More actions for a model" icon="more" atEnd body={(done) => <button type="button" class="menu-item" onClick={done}>Redeploy</button>} />
      </Part>
      <Part title="Actions of a row">
        <ActionGroup label="Actions for phi-4-mini" doing="" idle={false}>
          <button type="button" class="button">Stop</button>
        </ActionGroup>
        <ActionGroup label="Actions for whisper" doing="Stopping…" idle={false}>
          <button type="button" class="button">Stop</button>
        </ActionGroup>
      </Part>
      <Part title="One of many">
        <label for="gallery-one">Model</label>
        <Combobox id="gallery-one" label="Model" chosen={MODELS[0] as Choosable} options={MODELS} disabled={false} choose={() => undefined} />
      </Part>
      <Part title="Tags">
        <Tags tags={['ground-floor', 'night', 'a-tag-that-is-longer-than-the-others']} />
        <Tags tags={['ground-floor', 'night', 'leased']} most={1} all="#tags" />
      </Part>
      <Part title="A part whose code is gone">
        <Gone />
      </Part>
      <Part title="Systems">
        <SystemChoice system={system} />
        <Lacking installer={INSTALLER} system="windows" />
        <Unpublished installer={{ ...INSTALLER, release: null }} />
      </Part>
      <Part title="A search">
        <SearchField label="Search in things" words="made-up" />
      </Part>
      <Part title="Fields of a key">
        <KeyFields />
      </Part>
      <Part title="Export">
        <ExportButton count={3} lists={[LOADED]} save={() => undefined} />
        <ExportButton count={3} lists={[PARTLY]} save={() => undefined} />
        <ExportButton count={0} lists={[LOADED]} save={() => undefined} />
      </Part>
      <Part title="What a role may not see">
        <Refused role="viewer" />
        <p><Filled words="{person} may not." parts={{ person: <b>A viewer</b> }} /></p>
      </Part>
      <Part title="A question with a name to type">
        <button type="button" class="button danger" onClick={() => (asks.value = true)}>Remove…</button>
        {asks.value && (
          <Confirm title="Remove it for ever" action="Remove for ever" close={close} ready={typed.value === NAME} act={close}>
            <div class="field">
              <label for="gallery-typed">Type <b>{NAME}</b> to confirm</label>
              <input id="gallery-typed" value={typed.value} onInput={(event) => (typed.value = event.currentTarget.value)} />
            </div>
          </Confirm>
        )}
      </Part>
    </>
  );
}
