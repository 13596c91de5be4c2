// What a device is: its hardware and identity, its name and tags, and its removal.

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { changeDevice, shownTags, type DeviceChange, type ShownTag } from '../../data/device_change';
import { may, noteRefusal } from '../../data/permission';
import { modelName } from '../../data/names';
import type { Device, EngineInUse, SystemSample } from '../../data/types';
import { text } from '../../text';
import { brief } from '../../text/visible';
import { bytes, moment, percent } from '../../text/format';
import { past } from '../../ui/exact_times';
import { Icon } from '../../ui/icon';
import { failure, notice } from '../../ui/notices';
import { Foreign, Meter } from '../../ui/parts';
import { Tags } from '../../ui/tags';
import { AgentVersion } from '../../ui/version';
import { RemoveDevice } from './remove';
import { TransferDevice } from './transfer';

export function About({ device }: { device: Device }) {
  const operates = may('devices:operate');
  return (
    <div class="about">
      <section class="card">
        <h2>{text.about.hardware}</h2>
        {device.system ? <Hardware system={device.system} /> : <p class="soft">{text.about.noSample}</p>}
      </section>
      {device.system && <Builds builds={device.system.builds ?? []} />}
      <section class="card">
        <h2>{text.about.identity}</h2>
        {operates && <Name device={device} />}
        {operates && <TagEditor device={device} />}
        <dl class="pairs">
          {!operates && <NameAndTags device={device} />}
          <Pair name={text.about.id}>
            <code>{device.device_id}</code>
          </Pair>
          <Pair name={text.about.host}>
            <Foreign>{device.platform.hostname}</Foreign>
          </Pair>
          <Pair name={text.about.platform}>
            <Foreign>{`${device.platform.os}/${device.platform.arch}`}</Foreign>
          </Pair>
          <Pair name={text.about.version}>
            <AgentVersion device={device} />
          </Pair>
          {device.system?.transport && <Pair name={text.about.transport}>{text.about.transports[device.system.transport]}</Pair>}
          <Pair name={text.about.registered}>
            <span class="number">{moment(device.registered_at)}</span>
          </Pair>
        </dl>
      </section>
      {may('devices:write') && <TransferDevice device={device} />}
      {may('devices:write') && <RemoveDevice device={device} />}
    </div>
  );
}

function Pair({ name, children }: { name: ComponentChildren; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Hardware({ system }: { system: SystemSample }) {
  const { memory, disk, gpus = [], engines = [], agent } = system;
  return (
    <>
      <dl class="pairs">
        <Pair name={text.about.cpu}>
          <Meter share={system.cpu_percent / 100} label={percent(system.cpu_percent)} />
          <span class="soft small">
            {text.about.cores(system.cpu_count)}
            {system.load_1m != null && `, ${text.about.load(system.load_1m.toFixed(2))}`}
          </span>
        </Pair>
        <Pair name={text.about.memory}>
          <Meter share={memory.used_bytes / Math.max(memory.total_bytes, 1)} label={text.about.of(bytes(memory.used_bytes), bytes(memory.total_bytes))} />
        </Pair>
        {disk && (
          <Pair name={text.about.disk}>
            <Meter share={1 - disk.free_bytes / Math.max(disk.total_bytes, 1)} label={text.about.of(bytes(Math.max(0, disk.total_bytes - disk.free_bytes)), bytes(disk.total_bytes))} />
          </Pair>
        )}
        {system.temperature_celsius != null && (
          <Pair name={text.about.temperature}>
            <span class="number">{text.performance.celsius(Math.round(system.temperature_celsius))}</span>
          </Pair>
        )}
        {gpus.map((gpu, index) => (
          <Pair key={index} name={text.about.gpu}>
            <Foreign>{gpu.name}</Foreign>
            {gpu.utilisation_percent != null && <Meter share={gpu.utilisation_percent / 100} label={percent(gpu.utilisation_percent)} />}
            {gpu.memory_total_bytes != null && <span class="soft small number">{memoryWords(gpu.memory_used_bytes, gpu.memory_total_bytes)}</span>}
          </Pair>
        ))}
        {engines.map((engine) => (
          <Pair key={engine.model_id} name={<Foreign>{text.about.engine(modelName(engine.model_id))}</Foreign>}>
            <span class="number">{text.about.takes(percent(engine.cpu_percent), bytes(engine.memory_bytes))}</span>
          </Pair>
        ))}
        <Pair name={text.about.agent}>
          <span class="number">{text.about.takes(percent(agent.cpu_percent), bytes(agent.memory_bytes))}</span>
        </Pair>
      </dl>
      <p class="soft small">{text.about.sampled(past(system.reported_at))}</p>
    </>
  );
}

/** The builds of engines with which the next models start, and why each was chosen. */
function Builds({ builds }: { builds: EngineInUse[] }) {
  return (
    <section class="card">
      <h2>{text.about.builds}</h2>
      {builds.length === 0 && <p class="soft">{text.about.noBuilds}</p>}
      <dl class="pairs">
        {builds.map(({ engine, build, why }) => (
          <Pair key={engine} name={<Foreign>{engine}</Foreign>}>
            <Foreign class="number">{build}</Foreign>
            {why != null && <Foreign class="soft small">{why}</Foreign>}
          </Pair>
        ))}
      </dl>
    </section>
  );
}

/** The name and the tags, for those who may not change them. */
function NameAndTags({ device: { name, tags = [] } }: { device: Device }) {
  return (
    <>
      <Pair name={text.about.name}>
        <Foreign>{name}</Foreign>
      </Pair>
      <Pair name={text.about.tags}>
        {tags.length > 0 ? <Tags tags={tags} /> : <span class="soft small">{text.about.noTags}</span>}
      </Pair>
    </>
  );
}

/** Says why a change failed. */
function refused(error: unknown): void {
  noteRefusal(error);
  failure(error);
}

/** The memory of a graphics processor: some report how much they have, and not how much is used. */
function memoryWords(used: number | null | undefined, total: number): string {
  return used == null ? text.about.memoryOf(bytes(total)) : text.about.of(bytes(used), bytes(total));
}

/** A name that somebody else gives meanwhile is shown, unless one is being typed: then it is said, and what is typed stays. */
function Name({ device }: { device: Device }) {
  const field = useRef<HTMLInputElement>(null);
  /** The name that the typing began with. */
  const base = useRef(device.name);
  const busy = useSignal(false);
  const told = useSignal('');
  useEffect(() => {
    const { current: input } = field;
    if (!input || busy.peek() || device.name === base.current) return;
    const typed = input.value !== base.current && input.value !== device.name;
    if (!typed) input.value = device.name;
    told.value = typed ? text.about.renamedElsewhere(brief(device.name)) : '';
    base.current = device.name;
  }, [device.name, busy.value]);
  const sent = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget as HTMLFormElement).get('name'));
    busy.value = true;
    try {
      await changeDevice(device.device_id, { name });
      base.current = name;
      told.value = '';
      notice(text.about.renamed);
    } catch (error) {
      refused(error);
    } finally {
      busy.value = false;
    }
  };
  return (
    <form class="inline-form" onSubmit={(event) => void sent(event)}>
      <label for="device-name">{text.about.name}</label>
      <input ref={field} id="device-name" name="name" required autocomplete="off" defaultValue={device.name} />
      <button type="submit" class="button" disabled={busy}>
        {text.about.rename}
      </button>
      <p class="hint" role="status" dir="auto">
        {told}
      </p>
    </form>
  );
}

function TagEditor({ device }: { device: Device }) {
  const list = useRef<HTMLParagraphElement>(null);
  const tags = shownTags(device);
  const put = async (change: DeviceChange): Promise<boolean> => {
    try {
      await changeDevice(device.device_id, change);
      return true;
    } catch (error) {
      refused(error);
      return false;
    }
  };
  const sent = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const typed = (event.currentTarget as HTMLFormElement).elements.namedItem('tag') as HTMLInputElement;
    const tag = typed.value.trim();
    if (tag === '') return;
    // A refused tag stays to be corrected, and so does the next one that somebody has begun to type.
    if ((await put({ add_tags: [tag] })) && typed.value.trim() === tag) typed.value = '';
  };
  const remove = async (tag: string): Promise<void> => {
    // The button that had the focus goes with its tag.
    list.current?.focus();
    await put({ remove_tags: [tag] });
  };
  return (
    <div class="tag-editor">
      <form class="inline-form" onSubmit={(event) => void sent(event)}>
        <label for="device-tag">{text.about.tags}</label>
        <input id="device-tag" name="tag" placeholder={text.about.addTag} autocomplete="off" spellcheck={false} />
        <button type="submit" class="button">
          {text.about.add}
        </button>
      </form>
      <p ref={list} class="whole-tags" role="group" aria-label={text.about.tags} tabIndex={-1}>
        {tags.map((one) => (
          <Tag key={one.tag} shown={one} remove={remove} />
        ))}
        {tags.length === 0 && <span class="soft small">{text.about.noTags}</span>}
      </p>
      <span class="visually-hidden" role="status">
        {tags.flatMap(({ tag, pending }) => (pending === null ? [] : text.about.changingTag[pending](brief(tag)))).join(' ')}
      </span>
    </div>
  );
}

function Tag({ shown: { tag, pending }, remove }: { shown: ShownTag; remove: (tag: string) => Promise<void> }) {
  if (pending !== null) {
    return (
      <span class="chip pending">
        <Foreign>{tag}</Foreign>
        <span class="small">{text.about.pendingTag[pending]}</span>
      </span>
    );
  }
  return (
    <span class="chip">
      <Foreign>{tag}</Foreign>
      <button type="button" aria-label={text.about.removeTag(brief(tag))} onClick={() => void remove(tag)}>
        <Icon name="close" />
      </button>
    </span>
  );
}
