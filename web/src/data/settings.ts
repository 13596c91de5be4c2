// Settings of a deployment: what the plugins of this release offer, and what a person typed for it. Pure.
//
// The backend has no plugins and checks the form alone; a device checks against its own plugin before it downloads anything
// (decision 0094). This table is that of `docs/agent.schema.json`, which a test compares. A device may have another version
// of a plugin, so its word is the last.

import { sentence } from '../text/visible';
import type { Deployment } from './types';

export type Values = Readonly<Record<string, string | number | boolean>>;

export type Setting = { name: string } & (
  | { type: 'integer'; min: number; max: number; usual?: number }
  | { type: 'flag'; usual?: boolean }
  | { type: 'choice'; choices: readonly string[]; usual?: string }
);

/** What is wrong with a value. */
export type Fault = 'number' | 'choice' | 'form' | 'twice' | 'overtaken';

const THREADS: Setting = { name: 'threads', type: 'integer', min: 1, max: 1024 };
const LANGUAGES =
  'auto en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la ml cy sk te fa lv bn ' +
  'sr az sl kn et mk eu is hy mn bs kk sq sw gl mr be af tl';

export const SETTINGS: Readonly<Record<string, readonly Setting[]>> = {
  language_model: [{ name: 'context', type: 'integer', min: 256, max: 4_194_304, usual: 4096 }, THREADS],
  audio_transcriber: [
    { name: 'language', type: 'choice', choices: LANGUAGES.split(' '), usual: 'auto' },
    { name: 'beam_size', type: 'integer', min: 1, max: 8 },
    THREADS,
  ],
  image_classifier: [THREADS],
  audio_classifier: [THREADS],
};

const NAME = /^[a-z][a-z0-9_]{0,47}$/;
const WORD = /^[A-Za-z0-9._-]{1,64}$/;

/** Returns the settings of a plugin of this release; of another plugin, none are known. */
export function settingsOf(plugin: string): readonly Setting[] {
  return Object.hasOwn(SETTINGS, plugin) ? (SETTINGS[plugin] ?? []) : [];
}

/** Reads what was typed for a setting. Nothing typed is no value. */
export function valueOf(setting: Setting, typed: string): { value?: string | number | boolean; fault?: Fault } {
  const words = typed.trim();
  if (words === '') return {};
  switch (setting.type) {
    case 'integer': {
      const fits = /^[0-9]{1,15}$/.test(words) && Number(words) >= setting.min && Number(words) <= setting.max;
      return fits ? { value: Number(words) } : { fault: 'number' };
    }
    case 'flag':
      return words === 'true' || words === 'false' ? { value: words === 'true' } : { fault: 'choice' };
    case 'choice':
      return setting.choices.includes(words) ? { value: words } : { fault: 'choice' };
  }
}

/** Reads settings that this page does not know, a line for each: `NAME=VALUE`, as `link model deploy --set` takes them. */
export function linesOf(typed: string): { values: Values; fault?: Fault; at?: string } {
  const values: Record<string, string | number | boolean> = {};
  for (const line of typed.split('\n').map((one) => one.trim())) {
    if (line === '') continue;
    const [name = '', ...rest] = line.split('=');
    const word = rest.join('=');
    if (!NAME.test(name) || !WORD.test(word)) return { values, fault: 'form', at: line };
    if (Object.hasOwn(values, name)) return { values, fault: 'twice', at: name };
    values[name] = word === 'true' || word === 'false' ? word === 'true' : /^[0-9]{1,15}$/.test(word) ? Number(word) : word;
  }
  return { values };
}

/** Returns settings as a person types them, such as `context=8192`. */
export function written(values: Deployment['settings']): string[] {
  return Object.entries(values ?? {}).map(([name, value]) => `${name}=${String(value)}`);
}

/** What was typed: a text for each setting that the page knows, and lines for others. */
export interface Typed {
  fields: Readonly<Record<string, string>>;
  others: string;
}

/** Returns the settings of a deployment as they stand in the fields. */
export function typedOf(plugin: string, values: Deployment['settings']): Typed {
  const known = new Set(settingsOf(plugin).map(({ name }) => name));
  const all = Object.entries(values ?? {});
  return {
    fields: Object.fromEntries(all.filter(([name]) => known.has(name)).map(([name, value]) => [name, String(value)])),
    others: all.filter(([name]) => !known.has(name)).map(([name, value]) => `${name}=${String(value)}`).join('\n'),
  };
}

export interface Gathered {
  /** `undefined` if nothing was changed: the deployment then keeps what it has. */
  settings?: Values;
  /** By setting; `''` is the field for others. */
  faults: Readonly<Record<string, Fault>>;
}

/** Compares what was typed with what the deployment has, and returns what is sent: all values, as the backend takes them. */
export function gather(plugin: string, typed: Typed, before: Typed, drop = false): Gathered {
  const faults: Record<string, Fault> = {};
  const { values: others, fault } = linesOf(typed.others);
  if (fault) faults[''] = fault;
  const settings: Record<string, string | number | boolean> = { ...others };
  for (const setting of settingsOf(plugin)) {
    const { value, fault: wrong } = valueOf(setting, typed.fields[setting.name] ?? '');
    if (wrong) faults[setting.name] = wrong;
    if (value !== undefined) settings[setting.name] = value;
  }
  const same = typed.others.trim() === before.others && settingsOf(plugin).every(({ name }) => (typed.fields[name] ?? '').trim() === (before.fields[name] ?? ''));
  return same && !drop ? { faults } : { settings, faults };
}

/** What stood in a field when somebody began to type in it, and on which device, by setting; `''` is the field for others. */
export type FoundWords = Readonly<Record<string, { device: string; words: string }>>;

/** Returns what stands in the field of a setting. */
export function wordsIn(typed: Typed, name: string): string {
  return name === '' ? typed.others : (typed.fields[name] ?? '');
}

/** Returns the settings that were typed over and that somebody else has changed since on this device; `now` stands there. */
export function overtaken(mine: { fields: Typed['fields']; others: string | null }, found: FoundWords, device: string, now: Typed): string[] {
  const typed = { fields: mine.fields, others: mine.others ?? '' };
  return Object.keys(found).filter((name) => {
    const there = wordsIn(now, name);
    return device !== '' && found[name]?.device === device && there !== found[name]?.words && there !== wordsIn(typed, name).trim();
  });
}

/** Returns the setting that a refusal is about, with the refusal, or `null` if it is about something else. */
export function refusedSetting(words: string | null | undefined): { name: string; words: string } | null {
  const name = /\bsetting `([a-z][a-z0-9_]{0,47})`/.exec(words ?? '')?.[1];
  return name && words ? { name, words: sentence(words) } : null;
}
