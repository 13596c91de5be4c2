// How to begin: a line that brings the first device, a model, a question. The key of the line is made when it is asked for.

import { useComputed, useSignal, type Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

import { createKey, keys, useList } from '../../data/account';
import { findInstaller, installLine, supports, type Installer } from '../../data/install';
import { isValid } from '../../data/keys';
import { may } from '../../data/permission';
import { reader } from '../../data/system';
import type { Key, KeyCreated } from '../../data/types';
import { text } from '../../text';
import { ahead, inDays } from '../../text/until';
import { useAttempt } from '../../ui/busy';
import { now } from '../../ui/clock';
import { Lacking, SystemChoice, Unpublished } from '../../ui/install_lines';
import { Skeleton } from '../../ui/parts';
import { CopyBox } from '../../ui/secret';
import { Arrivals } from '../add/arrivals';

import '../add/add.css';

/** How long the key of the line can be used, in days. */
const GOOD_FOR = 1;

/** `made` takes the keys that are made here, by which the devices that come are known. */
export function FirstSteps({ made }: { made: Signal<readonly Key[]> }) {
  const words = text.overviewPage;
  return (
    <>
      <section class="card first-steps" id="first-steps">
        <h2>{words.welcome}</h2>
        <ol>
          <Step title={words.step1} body={words.step1Body} action={words.step1More} href="/devices/add">
            {may('keys:write') ? <Line made={made} /> : <p>{text.add.viewer}</p>}
          </Step>
          <Step title={words.step2} body={words.step2Body} action={words.step2Action} href="/models" />
          <Step title={words.step3} body={words.step3Body} action={words.step3Action} href="/workspace" />
        </ol>
      </section>
      {made.value.length > 0 && <Arrivals made={made.value} />}
    </>
  );
}

function Step({ title, body, action, href, children }: { title: string; body: string; action: string; href: string; children?: ComponentChildren }) {
  return (
    <li>
      <div>
        <h3>{title}</h3>
        <p class="soft">{body}</p>
      </div>
      {children && <div class="step-body">{children}</div>}
      <a class="button" href={href}>
        {action}
      </a>
    </li>
  );
}

function Line({ made }: { made: Signal<readonly Key[]> }) {
  const installer = useSignal<Installer | null>(null);
  const shown = useSignal<KeyCreated | null>(null);
  const copied = useSignal(false);
  const system = useSignal(reader());
  const { busy, fault, run } = useAttempt();
  useList(keys, may('keys:read'));
  const look = async (): Promise<Installer> => (installer.value = await findInstaller());
  useEffect(() => {
    void run(async () => void (await look()));
  }, []);
  // A key that nobody can use any more is not shown any more.
  const over = useComputed(() => {
    const info = shown.value?.info;
    return info !== undefined && (keys.rows.revision.value, !isValid(keys.rows.row(info.key_id)?.value ?? info, now.value));
  }).value;
  useEffect(() => {
    if (over) shown.value = null;
  }, [over]);
  const make = (): void => {
    void run(async () => {
      const found = await look();
      const created = await createKey({ kind: 'registration', name: text.overviewPage.title, tags: [], expires_at: inDays(GOOD_FOR) });
      copied.value = await copy(installLine(found, 'registration', 'line', created.key, system.peek()));
      shown.value = created;
      made.value = [created.info, ...made.peek()];
    });
  };
  const found = installer.value;
  if (!found && fault.value === '') return <Skeleton lines={2} />;
  const key = shown.value?.key;
  const possible = found !== null && supports(found, system.value);
  const line = possible ? installLine(found, 'registration', 'line', key, system.value) : '';
  return (
    <>
      {found && <SystemChoice system={system} />}
      {found && <Unpublished installer={found} />}
      {found && <Lacking installer={found} system={system.value} />}
      {possible && key !== undefined && <CopyBox key={system.value} value={line} label={text.add.lineOf} id="install-line" primary={false} />}
      {possible && key === undefined && (
        <div class="secret">
          <pre id="install-line" tabIndex={0} role="group" aria-label={text.add.lineOf} translate={false}>
            {line}
          </pre>
        </div>
      )}
      <p class="form-error" role="alert" dir="auto">
        {fault}
      </p>
      <div class="form-foot">
        <button type="button" class={key === undefined ? 'button primary' : 'button'} id="install-make" disabled={busy.value || (found !== null && !possible)} onClick={make}>
          {key === undefined ? text.overviewPage.step1Action : text.add.another}
        </button>
        <span role="status">
          {shown.value && `${copied.value ? `${text.admin.copied} ` : ''}${text.add.single(ahead(shown.value.info.expires_at ?? '', now.value))}`}
        </span>
      </div>
    </>
  );
}

/** Copies a text, unless the browser refuses. */
async function copy(words: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(words);
    return true;
  } catch {
    return false;
  }
}
