// Every part of the design with its states on one page, `/ui`, to look at while it is changed. It is for development: a
// build leaves it out, so its words are not part of the language.

import '../list.css';
import '../records.css';
import '../tabs.css';
import '../chart.css';

import { useSignal } from '@preact/signals';

import { Problem } from '../../data/problem';
import { Charted } from '../chart';
import { Chips, Field, Select } from '../choice';
import { Confirm, Dialog, DialogForm } from '../dialog';
import { FormError } from '../form_error';
import { Icon } from '../icon';
import { List } from '../list';
import { notice, Notices } from '../notices';
import { Badge, Copied, Empty, Failed, Foreign, Meter, Outdated, Skeleton, Time } from '../parts';
import { Prose, Said } from '../prose';
import { ListState, Records } from '../records';
import { CopyBox, ShownOnce } from '../secret';
import { Switch } from '../switch';
import { Until } from '../until';
import { Forms } from './forms';
import { Part } from './part';
import { States } from './states';

const LONG = 'a-name-that-is-much-longer-than-the-place-that-it-has-and-is-cut-at-the-end-of-it';
const HOURS = Array.from({ length: 24 }, (_, hour) => Date.UTC(2026, 10, 20, hour));
const hourOf = (time: number): string => `${new Date(time).getUTCHours()}:00`;
const LOAD = HOURS.map((_, hour) => (hour === 6 || hour === 7 ? null : 10 + hour));
const REFUSED = new Problem(503, { status: 503, detail: 'the backend is stopping', hint: 'retry in a minute', request_id: 'req_1' } as object, 30);

export function Gallery() {
  const open = useSignal<'dialog' | 'confirm' | null>(null);
  const chosen = useSignal('stale');
  const selected = useSignal<ReadonlySet<string>>(new Set(['2']));
  const close = (): void => {
    open.value = null;
  };
  return (
    <main id="content" class="page">
      <h1>Parts</h1>
      <Part title="Buttons">
        <button type="button" class="button primary">Primary</button>
        <button type="button" class="button">Usual</button>
        <button type="button" class="button danger">Danger</button>
        <button type="button" class="button quiet">Quiet</button>
        <button type="button" class="button" disabled>Disabled</button>
        <button type="button" class="button" aria-pressed="true">Pressed</button>
        <button type="button" class="button"><Icon name="plus" />With an icon</button>
        <button type="button" class="icon-button" aria-label="Copy"><Icon name="copy" /></button>
      </Part>
      <Part title="Fields">
        <Field label="Field" hint="What belongs into it." control={(ties) => <input {...ties} />} />
        <Field label="Refused" fault="What is wrong with the value." control={(ties) => <input {...ties} value="7" />} />
        <Field label="Number" control={(ties) => <input {...ties} type="number" value={8080} />} />
        <Field label="Choice" control={(ties) => <select {...ties}><option>One</option><option>Two</option></select>} />
        <label class="tick"><input type="checkbox" checked />Checked</label>
        <label class="tick"><input type="checkbox" />Not checked</label>
        <Switch label="Switched on" hint="What it does." on put={() => undefined} />
        <Switch label="Switched off" hint={LONG} on={false} put={() => undefined} />
        <fieldset class="radio-set">
          <legend>One of two</legend>
          <label><input type="radio" name="one" checked />First</label>
          <label><input type="radio" name="one" />Second</label>
        </fieldset>
        <FormError words="Why the form was refused, and what to do: run `link open` again." />
      </Part>
      <Part title="Badges">
        <Badge tone="good">Online</Badge>
        <Badge tone="busy">Updating…</Badge>
        <Badge tone="warn">Stale allowlist</Badge>
        <Badge tone="bad">Failed</Badge>
        <Badge tone="quiet">Stopped</Badge>
      </Part>
      <Part title="Meters and progress">
        <Meter share={0.2} label="20 %" />
        <Meter share={0.8} label="80 %" />
        <Meter share={0.97} label="97 %" />
        <progress aria-label="Download" value={0.4} max={1} />
      </Part>
      <Part title="Texts from outside">
        <Foreign>usual</Foreign>
        <Foreign>{LONG}</Foreign>
        <Foreign>{'<b>markup</b> \u202eturned\u202c zero\u200bwidth'}</Foreign>
        <Foreign class="tag">a-tag</Foreign>
        <Said words="the port is taken: run `link status` and choose another" />
        <Prose words="A sentence with `a command` in it." />
        <Copied code="dev_0123456789abcdef" label="Copy the id" />
      </Part>
      <Part title="Times">
        <Time at={new Date(Date.now() - 90_000).toISOString()} />
        <Time at={null} />
        <Until at={new Date(Date.now() + 86_400_000).toISOString()} />
        <Until at={null} />
      </Part>
      <Part title="Filters">
        <Chips
          label="States"
          options={[{ value: 'stale', words: 'Stale', count: 12 }, { value: 'failed', words: 'Failed', count: 0 }]}
          value={chosen.value}
          choose={(value) => (chosen.value = value)}
        />
        <Select label="Model" all="All models" options={[{ value: 'a', words: LONG }]} value="" choose={() => undefined} />
        <span class="chip"><Foreign>tag=lab</Foreign><button type="button" aria-label="Remove the filter tag=lab"><Icon name="close" /></button></span>
      </Part>
      <Part title="Tabs">
        <nav class="tabs" aria-label="Parts of something">
          <a href="#one" aria-current="page">One</a>
          <a href="#two">Two</a>
        </nav>
      </Part>
      <Part title="Table of many rows">
        <List
          name="gallery-row"
          label="Things"
          columns={[{ name: 'thing', title: 'Thing', sortable: true }, { name: 'state', title: 'State' }]}
          ids={['1', '2', '3']}
          heights={{ wide: 46, narrow: 64 }}
          order={{ column: 'thing', descending: false }}
          sort={() => undefined}
          selected={selected}
          row={(id) => ({ title: `Thing ${id}`, cells: { thing: <Foreign>{id === '3' ? LONG : `Thing ${id}`}</Foreign>, state: <Badge tone="good">Ready</Badge> } })}
        />
      </Part>
      <Part title="Table of few fields">
        <Records
          label="Keys"
          columns={[{ name: 'Name', class: 'wide', cell: (name) => <Foreign>{name}</Foreign> }, { name: 'State', cell: () => <Badge tone="warn">Ends soon</Badge> }]}
          items={['kiosks', LONG]}
          idOf={(name) => name}
        />
      </Part>
      <Part title="Chart">
        <Charted
          title="Tokens"
          summary="Tokens: 276. Highest in the interval that begins at 23:00."
          drawing={{
            kind: 'bars', times: HOURS, from: Date.UTC(2026, 10, 20), to: Date.UTC(2026, 10, 21), utc: true, format: String, unit: 'tokens', when: hourOf,
            series: [{ name: 'phi-4-mini', values: HOURS.map((_, hour) => hour) }],
          }}
          columns={[{ name: 'Hour', cell: (hour) => hour }]}
          items={['23:00']}
          idOf={(hour) => hour}
        />
        <Charted
          title="Load"
          summary="Load: 12 %, with a gap from 06:00 to 08:00."
          drawing={{
            kind: 'lines', times: HOURS, from: Date.UTC(2026, 10, 20), to: Date.UTC(2026, 10, 21), utc: true, most: 100, format: String, when: hourOf,
            series: [{ name: 'CPU', values: LOAD }],
            range: { name: 'lowest to highest', low: LOAD.map((load) => load && load - 8), high: LOAD.map((load) => load && load + 20) },
          }}
          columns={[{ name: 'Hour', cell: (hour) => hour }]}
          items={['23:00']}
          idOf={(hour) => hour}
        />
      </Part>
      <States />
      <Forms />
      <Part title="Banners">
        <p class="banner busy">Something goes on.</p>
        <p class="banner bad">Something failed.</p>
        <p class="banner quiet">Something to know.</p>
        <Outdated title="The list could not be loaded anew" error={REFUSED} retry={() => undefined} />
      </Part>
      <Part title="A secret that is shown once">
        <ShownOnce id="gallery-secret" close={close}>
          <CopyBox value="curl -fsSL https://link.example/install.sh | sh" label="install line" />
        </ShownOnce>
      </Part>
      <Part title="Nothing there">
        <Empty icon="devices" title="No device yet">
          <p>A device appears here by itself.</p>
          <a class="button primary" href="#add">Add a device</a>
        </Empty>
        <Failed title="The devices could not be loaded" error={REFUSED} retry={() => undefined} />
        <Skeleton lines={3} />
        <ListState loading={{ state: 'failed', error: REFUSED }} count={0} title="The things could not be loaded" retry={() => undefined}>
          <p>Nothing.</p>
        </ListState>
      </Part>
      <Part title="Above the page">
        <button type="button" class="button" onClick={() => (open.value = 'dialog')}>Open a dialog</button>
        <button type="button" class="button" onClick={() => (open.value = 'confirm')}>Open a question</button>
        <button type="button" class="button" onClick={() => notice('It is done.')}>Show a notice</button>
        <button type="button" class="button" onClick={() => notice('It failed.', 'bad')}>Show a bad notice</button>
      </Part>
      {open.value === 'dialog' && (
        <Dialog title="A dialog" close={close}>
          <DialogForm close={close} action="Do it" send={close}>
            <p>What it is about.</p>
          </DialogForm>
        </Dialog>
      )}
      {open.value === 'confirm' && (
        <Confirm title="Remove the thing" action="Remove" close={close} act={close}>
          <p>What is lost with it.</p>
        </Confirm>
      )}
      <Notices />
    </main>
  );
}
