// Ctrl K: pages, devices, models and actions by name.

import { signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { isOffered, nameOf } from '../data/model_name';
import { may } from '../data/permission';
import { ofPerson } from '../data/person';
import { logOut } from '../data/session';
import { devices, me, models } from '../data/store';
import type { Permission } from '../data/types';
import { text } from '../text';
import { Dialog } from '../ui/dialog';
import { Foreign } from '../ui/parts';
import { go } from '../ui/router';
import { administration } from './administration';

interface Found {
  entries: Entry[];
  /** How many more fit. */
  more: number;
}

interface Entry {
  id: string;
  name: string;
  kind: string;
  act: () => void;
}

/** The maximum number of results, and of results of one kind if others fit too. */
const MOST = 12;
const SHARE = 5;

export const paletteOpen = signal(false);
ofPerson(() => (paletteOpen.value = false));

export function Palette() {
  const words = useSignal('');
  const chosen = useSignal(0);
  const list = useRef<HTMLUListElement>(null);
  const { entries: found, more } = search(words.value);
  const place = Math.min(chosen.value, Math.max(found.length - 1, 0));
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView?.({ block: 'nearest' });
  }, [place]);
  const close = (): void => {
    paletteOpen.value = false;
  };
  const take = (entry: Entry | undefined): void => {
    if (!entry) return;
    close();
    entry.act();
  };
  const pressed = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && found.length > 0) {
      event.preventDefault();
      chosen.value = (place + step + found.length) % found.length;
    } else if (event.key === 'Enter') {
      event.preventDefault();
      take(found[place]);
    }
  };
  const typed = (event: Event): void => {
    words.value = (event.currentTarget as HTMLInputElement).value;
    chosen.value = 0;
  };
  return (
    <Dialog title={text.palette.title} close={close} wide>
      <div class="palette">
        <input
          type="text"
          role="combobox"
          aria-label={text.palette.placeholder}
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={found.length > 0 ? `palette-${place}` : undefined}
          placeholder={text.palette.placeholder}
          autocomplete="off"
          spellcheck={false}
          autofocus
          value={words}
          onInput={typed}
          onKeyDown={pressed}
        />
        <p class="visually-hidden" role="status">
          {text.palette.results(found.length)}
        </p>
        {found.length === 0 && <p class="soft palette-none">{text.palette.none}</p>}
        <ul id="palette-list" ref={list} role="listbox" aria-label={text.palette.title}>
          {found.map((entry, index) => (
            <li key={entry.id} id={`palette-${index}`} role="option" aria-selected={index === place} onClick={() => take(entry)}>
              <Foreign>{entry.name}</Foreign>
              <span class="soft small">{entry.kind}</span>
            </li>
          ))}
        </ul>
        {more > 0 && <p class="soft palette-none">{text.palette.more(more)}</p>}
      </div>
    </Dialog>
  );
}

/** How well a name fits what was typed, the best first: the whole, its beginning, that of a word in it, or any part; null if it does
 * not. */
function rankOf(name: string, wanted: string): number | null {
  const own = name.toLowerCase();
  if (own === wanted) return 0;
  let place = own.indexOf(wanted);
  if (place <= 0) return place < 0 ? null : 1;
  while (place > 0 && /[\p{L}\p{N}]/u.test(own.charAt(place - 1))) place = own.indexOf(wanted, place + 1);
  return place > 0 ? 2 : 3;
}

/** Finds what fits, the best first. No kind takes all places while another one fits too. */
function search(words: string): Found {
  const wanted = words.trim().toLowerCase();
  if (wanted === '') return { entries: fixed(), more: 0 };
  const fitting: { rank: number; kind: string; entry: () => Entry }[] = [];
  const offer = (name: string, kind: string, entry: () => Entry, id?: string): void => {
    const rank = rankOf(name, wanted) ?? (id?.startsWith(wanted) ? 1 : null);
    if (rank !== null) fitting.push({ rank, kind, entry });
  };
  // Of what fits equally well, a page is first, and what is used least is last.
  const all = fixed();
  const of = (kind: string): Entry[] => all.filter((entry) => entry.kind === kind);
  for (const entry of of(text.palette.page)) offer(entry.name, entry.kind, () => entry);
  for (const { device_id: id, name } of devices.all()) {
    const kind = text.palette.device;
    offer(name, kind, () => ({ id, name, kind, act: () => go(`/devices/${id}`) }), id);
  }
  for (const model of models.all()) {
    const [id, name, kind] = [model.model_id, nameOf(model), text.palette.model];
    offer(name, kind, () => ({ id, name, kind, act: () => go(`/models/${id}`) }));
  }
  for (const entry of [...deploys(), ...of(text.palette.action)]) offer(entry.name, entry.kind, () => entry);
  fitting.sort((a, b) => a.rank - b.rank);
  const taken = new Map<string, number>();
  const first = fitting.filter(({ kind }) => {
    const count = (taken.get(kind) ?? 0) + 1;
    taken.set(kind, count);
    return count <= SHARE;
  });
  const chosen = new Set(first.slice(0, MOST));
  for (const one of fitting) if (chosen.size < MOST) chosen.add(one);
  const entries = fitting.filter((one) => chosen.has(one)).map(({ entry }) => entry());
  return { entries, more: fitting.length - entries.length };
}

/** The models that can be deployed, each as an action. */
function deploys(): Entry[] {
  if (!may('deployments:write')) return [];
  return models.all().filter((model) => model.ready && isOffered(model)).map((model) => {
    const id = model.model_id;
    const name = text.palette.deploy(nameOf(model));
    return { id: `deploy ${id}`, name, kind: text.palette.action, act: () => go(`/models/${id}?open=deploy`) };
  });
}

function fixed(): Entry[] {
  const page = (name: string, address: string): Entry => ({
    id: address,
    name,
    kind: text.palette.page,
    act: () => go(address),
  });
  const action = (name: string, address: string, needs: Permission): Entry[] =>
    may(needs) ? [{ ...page(name, address), kind: text.palette.action }] : [];
  return [
    page(text.overviewPage.title, '/'),
    page(text.shell.devices, '/devices'),
    page(text.catalogue.title, '/models'),
    page(text.deployed.title, '/deployments'),
    page(text.repairing.title, '/repairs'),
    page(text.works.title, '/operations'),
    page(text.admin.add, '/devices/add'),
    ...administration(me.value?.role).map(({ name, href }) => page(name, href)),
    page(text.shell.workspace, '/workspace'),
    page(text.shell.api, '/docs'),
    ...action(text.palette.stale, '/deployments?state=stale', 'devices:read'),
    ...action(text.catalogue.add, '/models?open=add', 'models:write'),
    ...action(text.keys.create, '/keys?open=create', 'keys:write'),
    ...action(text.members.invite, '/members?open=invite', 'members:write'),
    ...action(text.tokens.create, '/tokens?open=create', 'account:read'),
    ...action(text.retire.open, '/devices?open=retire', 'devices:read'),
    ...action(text.security.password, '/settings?open=password', 'settings:read'),
    { id: 'log-out', name: text.shell.logOut, kind: text.palette.action, act: () => void logOut() },
  ];
}
