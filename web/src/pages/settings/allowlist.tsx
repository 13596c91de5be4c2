// The allowlist: the account's own origins, which are added and removed one by one, and those of the backend. It says what a
// change leaves stale, and leads to the repair.

import { useComputed, useSignal } from '@preact/signals';

import { allowlist, allowlistLoading, changeOrigins, loadAllowlist, useAllowlist } from '../../data/allowlist';
import { deployments } from '../../data/store';
import type { Allowlist } from '../../data/types';
import { text } from '../../text';
import { visible } from '../../text/visible';
import { useAttempt } from '../../ui/busy';
import { Confirm } from '../../ui/dialog';
import { FormError } from '../../ui/form_error';
import { Icon } from '../../ui/icon';
import { useLost } from '../../ui/lost';
import { notice } from '../../ui/notices';
import { Foreign } from '../../ui/parts';
import { ListState } from '../../ui/records';

/** Where stale deployments are repaired. */
const REPAIR = '/deployments?state=stale';
/** Where others are: a deployment that has more than the list is not stale. */
const ALL = '/deployments';

export function AllowlistCard({ writes }: { writes: boolean }) {
  useAllowlist();
  const known = allowlist.value;
  return (
    <section class="card settings-card" aria-labelledby="allowlist-title" id="allowlist">
      <h2 id="allowlist-title">{text.settings.allowlist}</h2>
      <p class="hint">{text.settings.allowlistHint}</p>
      <ListState loading={allowlistLoading.value} count={known ? 1 : 0} title={text.settings.failedTitle} retry={() => void loadAllowlist()}>
        {known && <Lists known={known} writes={writes} />}
      </ListState>
    </section>
  );
}

function Lists({ known, writes }: { known: Allowlist; writes: boolean }) {
  const removing = useSignal<string | null>(null);
  const removed = useSignal<string | null>(null);
  useLost(writes, () => (removing.value = null));
  const defaults = known.defaults ?? [];
  return (
    <>
      <Stale />
      <StillIn origin={removed.value} listed={[...known.origins, ...defaults]} />
      <h3>{text.settings.own}</h3>
      {known.origins.length === 0 && <p class="soft">{text.settings.noOwn}</p>}
      {known.origins.length > 0 && (
        <ul class="origins" id="own-origins" aria-label={text.settings.own}>
          {known.origins.map((origin) => (
            <li key={origin}>
              <Foreign>{origin}</Foreign>
              {writes && (
                <button type="button" class="icon-button" aria-label={text.settings.remove(origin)} title={text.settings.remove(origin)} onClick={() => (removing.value = origin)}>
                  <Icon name="close" />
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {writes && <AddOrigin known={known} />}
      <h3>{text.settings.defaults}</h3>
      <p class="hint">{defaults.length === 0 ? text.settings.noDefaults : text.settings.defaultsHint}</p>
      {defaults.length > 0 && (
        <ul class="origins" id="default-origins" aria-label={text.settings.defaults}>
          {defaults.map((origin) => (
            <li key={origin}>
              <Foreign>{origin}</Foreign>
            </li>
          ))}
        </ul>
      )}
      {removing.value !== null && <RemoveOrigin origin={removing.value} known={known} close={() => (removing.value = null)} done={() => (removed.value = removing.peek())} />}
    </>
  );
}

/** Counts the deployments that do not have the current list. Without a deployment there is nothing to say. */
function Stale() {
  const count = useComputed(() => {
    void deployments.revision.value;
    const completed = deployments.all().filter(({ state }) => state === 'completed');
    return completed.length === 0 ? null : completed.filter(({ stale }) => stale).length;
  }).value;
  return (
    <div role="status">
      {count === 0 && <p class="hint">{text.settings.current}</p>}
      {count !== null && count > 0 && (
        <p class="banner warn stale-line">
          {text.deployed.stale(count)}{' '}
          <a class="button" href={REPAIR}>
            {text.settings.repairAll}
          </a>
        </p>
      )}
    </div>
  );
}

/** Says what follows for the deployments that may still have an origin that is no longer listed. */
function StillIn({ origin, listed }: { origin: string | null; listed: readonly string[] }) {
  const deployed = useComputed(() => {
    void deployments.revision.value;
    return deployments.all().some(({ state }) => state === 'completed');
  }).value;
  return (
    <div role="status">
      {origin !== null && deployed && !listed.includes(origin) && (
        <p class="banner warn stale-line">
          <span dir="auto">{text.settings.stillIn(visible(origin))}</span>{' '}
          <a class="button" href={ALL}>
            {text.settings.deployments}
          </a>
        </p>
      )}
    </div>
  );
}

/** Returns the origin of an address that was copied from a browser. Any other text is left to the backend to refuse. */
function originOf(written: string): string {
  if (!URL.canParse(written)) return written;
  const { protocol, origin } = new URL(written);
  return protocol === 'https:' || protocol === 'http:' ? origin : written;
}

function AddOrigin({ known }: { known: Allowlist }) {
  const { busy, fault, run } = useAttempt();
  const words = useSignal('');
  const all = [...known.origins, ...(known.defaults ?? [])];
  const reached = deployments.all().filter(({ state }) => state === 'completed').length;
  const put = (written: string): void => {
    const origin = originOf(written.trim());
    if (all.includes(origin)) {
      fault.value = text.settings.known;
      return;
    }
    void run(async () => {
      await changeOrigins(known.origins, (origins) => [...origins, origin]);
      notice(text.settings.added(visible(origin)));
      words.value = '';
    });
  };
  const sent = (event: Event): void => {
    event.preventDefault();
    put(words.peek());
  };
  return (
    <form class="add-origin" onSubmit={sent}>
      <div class="field">
        <label for="new-origin">{text.settings.add}</label>
        <input
          id="new-origin"
          required
          autocomplete="off"
          spellcheck={false}
          inputMode="url"
          aria-describedby="new-origin-hint"
          value={words}
          onInput={(event) => (words.value = event.currentTarget.value)}
        />
        <p class="hint" id="new-origin-hint">
          {text.settings.addHint} {reached > 0 && text.settings.becomes(reached)}
        </p>
      </div>
      <FormError words={fault} />
      <div class="form-foot">
        <button type="submit" class="button primary" disabled={busy}>
          {text.settings.submit}
        </button>
        {!all.includes(location.origin) && (
          <button type="button" class="button" disabled={busy} onClick={() => put(location.origin)}>
            {text.settings.addOurs(location.origin)}
          </button>
        )}
      </div>
    </form>
  );
}

function RemoveOrigin({ origin, known, close, done: tell }: { origin: string; known: Allowlist; close: () => void; done: () => void }) {
  const { busy, fault, run } = useAttempt();
  const remove = async (): Promise<void> => {
    const done = await run(() => changeOrigins(known.origins, (origins) => origins.filter((one) => one !== origin)));
    if (!done) return;
    notice(text.settings.removed(visible(origin)));
    tell();
    close();
  };
  return (
    <Confirm title={text.settings.removeTitle} action={text.settings.removeAction} close={close} ready={!busy.value} act={() => void remove()}>
      <p dir="auto">{text.settings.removeBody(visible(origin))}</p>
      <FormError words={fault} />
    </Confirm>
  );
}
