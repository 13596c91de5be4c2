// The fields of a new key: for how many devices, how long, with which tags.

import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';

import { tagsOf } from '../data/keys';
import type { CreateKey } from '../data/types';
import { text } from '../text';
import { inDays } from '../text/until';

/** Lifetimes that are offered, in days. */
const LIFETIMES = [1 / 24, 1, 7, 30, 365] as const;

/** `touched` is called at every change. */
export function KeyFields({ touched }: { touched?: () => void }) {
  const fleet = useSignal(false);
  const id = useId();
  const choose = (event: Event): void => {
    fleet.value = (event.currentTarget as HTMLInputElement).value === 'fleet';
  };
  return (
    <div class="fields" onInput={touched}>
      <fieldset class="radio-set">
        <legend>{text.keys.kind}</legend>
        {(['registration', 'fleet'] as const).map((kind) => (
          <label key={kind}>
            <input type="radio" name="kind" value={kind} checked={fleet.value === (kind === 'fleet')} onChange={choose} />
            {kind === 'fleet' ? text.keys.fleet : text.keys.single}
          </label>
        ))}
      </fieldset>
      <div class="field">
        <label for={`${id}-days`}>{text.keys.expires}</label>
        <select id={`${id}-days`} name="days">
          {LIFETIMES.map((days) => (
            <option key={days} value={days} selected={days === 1}>
              {days < 1 ? text.admin.hours(Math.round(days * 24)) : text.admin.days(days)}
            </option>
          ))}
          <option value="">{text.admin.noEnd}</option>
        </select>
      </div>
      {fleet.value && (
        <div class="field">
          <label for={`${id}-most`}>{text.keys.most}</label>
          <input id={`${id}-most`} name="most" type="number" min="1" max="1000000" step="1" inputMode="numeric" aria-describedby={`${id}-most-hint`} />
          <p class="hint" id={`${id}-most-hint`}>
            {text.keys.mostHint}
          </p>
        </div>
      )}
      <div class="field">
        <label for={`${id}-tags`}>{fleet.value ? text.keys.tags : text.keys.tagsOfOne}</label>
        <input id={`${id}-tags`} name="tags" autocomplete="off" spellcheck={false} aria-describedby={`${id}-tags-hint`} />
        <p class="hint" id={`${id}-tags-hint`}>
          {text.admin.tagsHint}
        </p>
      </div>
    </div>
  );
}

/** Returns the request for a key as the values of a form with these fields have it. */
export function keyOf(values: FormData, name: string): CreateKey {
  const kind = values.get('kind') === 'fleet' ? 'fleet' : 'registration';
  const days = Number(values.get('days'));
  const most = Number(values.get('most'));
  return {
    kind,
    name,
    tags: tagsOf(String(values.get('tags'))),
    ...(days > 0 ? { expires_at: inDays(days) } : {}),
    ...(kind === 'fleet' && most > 0 ? { max_devices: most } : {}),
  };
}
