// The settings of a plugin as fields, one for each by its type, and lines for settings that this page does not know.

import type { Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { settingsOf, type Fault, type Setting, type Typed } from '../data/settings';
import { language, text } from '../text';
import { brief } from '../text/visible';
import { Field } from './choice';
import { Prose } from './prose';

interface Props {
  /** Whether the settings are unfolded when the dialog opens. */
  opened: boolean;
  plugin: string;
  typed: Typed;
  change: (typed: Typed) => void;
  /** By setting; `''` is the field for others. */
  faults: Readonly<Record<string, Fault>>;
  /** What the deployment has now. */
  theirs: Typed;
  /** What the backend or the device said about a setting. */
  refused: { name: string; words: string } | null;
  /** Says what an empty field means. */
  meaning: string;
  /** Whether the settings of the last deployments are dropped, if that can be chosen. */
  drop: Signal<boolean> | null;
}

const words = text.pluginSettings;
const number = (count: number): string => count.toLocaleString(language);

export function SettingsFields({ opened, plugin, typed, change, faults, theirs, refused, meaning, drop }: Props) {
  const known = settingsOf(plugin);
  const named = known.some(({ name }) => name === refused?.name);
  const wrong = Object.keys(faults).length > 0 || refused !== null;
  const box = useRef<HTMLDetailsElement>(null);
  const others = known.length === 0 || typed.others !== '' || (refused !== null && !named);
  useEffect(() => {
    if (!wrong || !box.current) return;
    box.current.open = true;
    box.current.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [faults, refused?.words]);
  // Afterwards the person opens and closes it.
  const open = useRef(opened || wrong || typed.others !== '' || Object.keys(typed.fields).length > 0);
  return (
    <details class="plugin-settings" ref={box} open={open.current}>
      <summary>{words.title}</summary>
      <p class="hint">
        <Prose words={meaning} />
      </p>
      <div class="pair">
        {known.map((setting) => (
          <One
            key={setting.name}
            setting={setting}
            value={typed.fields[setting.name] ?? ''}
            fault={refused?.name === setting.name ? refused.words : faultOf(setting, faults[setting.name], theirs.fields[setting.name] ?? '')}
            change={(value) => change({ ...typed, fields: { ...typed.fields, [setting.name]: value } })}
          />
        ))}
      </div>
      {others && (
        <Field
          label={words.others}
          hint={words.othersHint}
          fault={refused !== null && !named ? refused.words : faults[''] ? otherFault(faults[''], theirs.others) : ''}
          control={(ties) => (
            <textarea {...ties} rows={2} spellcheck={false} value={typed.others} onInput={(event) => change({ ...typed, others: event.currentTarget.value })} />
          )}
        />
      )}
      {drop && (
        <label class="check-line">
          <input type="checkbox" checked={drop.value} onChange={(event) => (drop.value = event.currentTarget.checked)} />
          {words.drop}
        </label>
      )}
    </details>
  );
}

function One({ setting, value, fault, change }: { setting: Setting; value: string; fault: string; change: (value: string) => void }) {
  const { name } = setting;
  const hint = [words.hint[name], setting.type === 'integer' ? words.bounds(number(setting.min), number(setting.max)) : ''];
  const usual = setting.usual === undefined ? words.unset : words.usual(wordOf(setting.usual));
  return (
    <Field
      label={words.name[name] ?? name}
      hint={hint.filter(Boolean).join(' ')}
      fault={fault}
      control={(ties) =>
        setting.type === 'integer' ? (
          <input
            {...ties}
            inputMode="numeric"
            autocomplete="off"
            placeholder={setting.usual === undefined ? words.unset : String(setting.usual)}
            value={value}
            onInput={(event) => change(event.currentTarget.value)}
          />
        ) : (
          <select {...ties} value={value} onChange={(event) => change(event.currentTarget.value)}>
            <option value="">{usual}</option>
            {(setting.type === 'flag' ? ['true', 'false'] : setting.choices).map((one) => (
              <option key={one} value={one}>
                {setting.type === 'flag' ? wordOf(one === 'true') : one}
              </option>
            ))}
          </select>
        )
      }
    />
  );
}

function wordOf(value: string | number | boolean): string {
  if (typeof value === 'boolean') return value ? words.on : words.off;
  return String(value);
}

function faultOf(setting: Setting, fault: Fault | undefined, theirs: string): string {
  if (!fault) return '';
  if (fault === 'overtaken') return words.fault.overtaken(brief(theirs));
  return setting.type === 'integer' ? words.fault.number(number(setting.min), number(setting.max)) : words.fault.choice;
}

function otherFault(fault: Fault, theirs: string): string {
  if (fault === 'overtaken') return words.fault.overtaken(brief(theirs));
  return fault === 'twice' ? words.fault.twice : words.fault.form;
}
