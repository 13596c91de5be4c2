// A new token: its scopes are chosen among those of the caller's role; then the token is shown once.

import { useSignal, type Signal } from '@preact/signals';

import { createToken } from '../../data/account';
import type { Permission, Role } from '../../data/types';
import { text } from '../../text';
import { inDays } from '../../text/until';
import { useAttempt } from '../../ui/busy';
import { Dialog, DialogForm } from '../../ui/dialog';
import { FormError } from '../../ui/form_error';
import { Prose } from '../../ui/prose';
import { CopyBox, ShownOnce } from '../../ui/secret';
import { aboutWords, isRead, partsOf, permitsWords, scopesOf, type Group } from './scopes';

/** Lifetimes that are offered, in days; the backend takes up to 366. */
const LIFETIMES = [1, 7, 30, 90, 365] as const;
const USUAL = 90;

export function CreateTokenDialog({ role, close }: { role: Role; close: () => void }) {
  const made = useSignal<string | null>(null);
  const chosen = useSignal<ReadonlySet<Permission>>(new Set());
  const { busy, fault, run } = useAttempt();
  const groups = scopesOf(role);
  const all = groups.flatMap(({ scopes }) => scopes);
  const send = (values: FormData): void => {
    // A role that was lowered while the dialog was open takes scopes away.
    const scopes = all.filter((scope) => chosen.peek().has(scope));
    if (scopes.length === 0) {
      fault.value = text.tokens.noScope;
      return;
    }
    void run(async () => {
      const name = String(values.get('name')).trim();
      made.value = (await createToken(name, scopes, inDays(Number(values.get('days'))))).token;
    });
  };
  return (
    <Dialog title={made.value !== null ? text.tokens.created : text.tokens.create} close={close} wide>
      {made.value !== null ? (
        <ShownOnce id="new-token" close={close}>
          <CopyBox value={made.value} label={text.tokens.theToken} />
          <p class="hint">
            <Prose words={text.tokens.usage} />
          </p>
        </ShownOnce>
      ) : (
        <DialogForm close={close} action={text.tokens.submit} ready={!busy.value} send={send}>
          <div class="field">
            <label for="token-name">{text.tokens.name}</label>
            <input id="token-name" name="name" required maxLength={100} autofocus autocomplete="off" spellcheck={false} aria-describedby="token-name-hint" />
            <p class="hint" id="token-name-hint">
              {text.tokens.nameHint}
            </p>
          </div>
          <div class="field">
            <label for="token-days">{text.tokens.expires}</label>
            <select id="token-days" name="days">
              {LIFETIMES.map((days) => (
                <option key={days} value={days} selected={days === USUAL}>
                  {text.admin.days(days)}
                </option>
              ))}
            </select>
          </div>
          <ScopeChoice groups={groups} chosen={chosen} />
          <FormError words={fault} />
        </DialogForm>
      )}
    </Dialog>
  );
}

function ScopeChoice({ groups, chosen }: { groups: readonly Group<Permission>[]; chosen: Signal<ReadonlySet<Permission>> }) {
  const all = groups.flatMap(({ scopes }) => scopes);
  const take = (scopes: Permission[]) => () => {
    chosen.value = new Set(scopes);
  };
  const toggle = (scope: Permission): void => {
    const next = new Set(chosen.peek());
    if (!next.delete(scope)) next.add(scope);
    chosen.value = next;
  };
  return (
    <fieldset class="radio-set">
      <legend>{text.tokens.scopes}</legend>
      <div class="choices">
        <button type="button" class="button" onClick={take(all.filter(isRead))}>
          {text.tokens.readOnly}
        </button>
        <button type="button" class="button" onClick={take(all)}>
          {text.tokens.everything}
        </button>
        <button type="button" class="button quiet" onClick={take([])}>
          {text.tokens.nothing}
        </button>
      </div>
      <div class="scope-groups">
        {groups.map(({ about, scopes }) => (
          <div key={about} class="scope-group" role="group" aria-label={aboutWords(about)}>
            <span class="about">{aboutWords(about)}</span>
            {scopes.map((scope) => (
              <label key={scope} class={`tick ${partsOf(scope)[1]}`} title={scope}>
                <input type="checkbox" checked={chosen.value.has(scope)} onChange={() => toggle(scope)} />
                {permitsWords(scope)}
              </label>
            ))}
          </div>
        ))}
      </div>
    </fieldset>
  );
}
