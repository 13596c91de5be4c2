// What a made-up account has, in the states of the screenshots: nothing, one of each, many, and many of which much is
// wrong. The same at every run: `NOW` is the time, and nothing is drawn at random.

import type {
  AuditEntry, Command, Deployment, Device, DeviceLog, Invitation, Key, Member, Model, Operation, OperationDevice,
  SessionInfo, Summary, SystemSample, Task, Token,
} from '../src/data/types.ts';

export const WORLDS = ['empty', 'one', 'many', 'failing'] as const;
export type WorldName = (typeof WORLDS)[number];

/** The moment of every screenshot. */
export const NOW = Date.parse('2026-11-20T14:05:00Z');

export interface World {
  name: WorldName;
  devices: Device[];
  models: Model[];
  deployments: Deployment[];
  commands: Command[];
  operations: Operation[];
  results: OperationDevice[];
  keys: Key[];
  members: Member[];
  invitations: Invitation[];
  tokens: Token[];
  audit: AuditEntry[];
  logs: DeviceLog[];
  sessions: SessionInfo[];
  origins: string[];
  summary: Summary;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const GB = 1e9;

const ago = (milliseconds: number): string => new Date(NOW - milliseconds).toISOString();
const ahead = (milliseconds: number): string => new Date(NOW + milliseconds).toISOString();
const hex = (kind: string, number: number): string => `${kind}_${(0x9e3779b1 * (number + 7)).toString(16).padStart(32, '5').slice(-32)}`;

/** A number from 0 to 1 that is always the same for a number. */
export function noise(number: number): number {
  const wave = Math.sin(number * 12.9898 + 4.1414) * 43758.5453;
  return wave - Math.floor(wave);
}

/** The tokens of one inference. */
export const [PROMPT, COMPLETION] = [320, 750];

/** The inferences of a span, hour by hour and up to now: a day has those of its hours. */
export function inferencesIn(begin: number, length: number): number {
  let all = 0;
  for (let hour = Math.floor(begin / HOUR) * HOUR; hour < Math.min(begin + length, NOW); hour += HOUR) {
    all += Math.round(38 * (1 + noise(Math.floor(hour / DAY))) * (0.6 + 0.8 * noise(hour / HOUR)));
  }
  return all;
}

const PLACES = ['ward', 'lab', 'kiosk', 'depot', 'office', 'studio'];
const LONG = 'third-floor-east-wing-radiology-reading-room-workstation-behind-the-blue-door-04';
const HOSTILE = '<b>Online</b> \u202egnp.evil\u202c zero\u200bwidth';

const KINDS: readonly { name: string; plugin: string; size: number; file: string; task?: Task }[] = [
  { name: 'phi-4-mini', plugin: 'language_model', size: 2.5 * GB, file: 'phi-4-mini-q4.gguf' },
  { name: 'qwen3-8b-instruct', plugin: 'language_model', size: 5.2 * GB, file: 'qwen3-8b-instruct-q4_k_m.gguf' },
  { name: 'whisper-base', plugin: 'audio_transcriber', size: 148e6, file: 'ggml-base.bin' },
  { name: 'page-orientation', plugin: 'image_classifier', size: 9.4e6, file: 'page-orientation.zip' },
  { name: 'voice-activity', plugin: 'audio_classifier', size: 2.1e6, file: 'voice-activity.zip' },
  { name: 'tiny-draft', plugin: 'language_model', size: 0.4 * GB, file: 'tiny-draft-q8.gguf' },
  { name: 'bge-small', plugin: 'language_model', size: 0.07 * GB, file: 'bge-small-f16.gguf', task: 'embeddings' },
];

/** The devices of an operation. */
const MOST_WORKED_ON = 48;

const COUNTS = { empty: 0, one: 1, many: 240, failing: 60 } as const;

/** Makes an account. Devices beyond those of the pictures have no models. */
export function worldOf(name: WorldName, count: number = COUNTS[name]): World {
  const wrong = name === 'failing';
  const devices = Array.from({ length: count }, (_, at) => deviceOf(at, name));
  const kinds = KINDS.slice(0, { empty: 0, one: 1, many: KINDS.length, failing: KINDS.length }[name]);
  const models = kinds.map((kind, at): Model => ({
    model_id: hex('mdl', at),
    name: wrong && at === 5 ? LONG : kind.name,
    file_name: kind.file,
    plugin: kind.plugin,
    shared: at === 1,
    ready: !(wrong && at === 5),
    owned: at !== 2,
    ...(at === 2 ? { publisher: 'north-clinic' } : {}),
    created_at: ago((at + 2) * 9 * DAY),
    size_bytes: kind.size,
    sha256: hex('', at).slice(1).padEnd(64, '3'),
    facts: kind.plugin === 'language_model'
      ? { architecture: 'phi3', parameters: 3.8e9, context_length: 131_072, quantization: 'Q4_K_M', memory_bytes: kind.size * 1.2, task: kind.task ?? 'chat' }
      : null,
  }));
  const deployments = devices.slice(0, COUNTS[name]).flatMap((device, at) =>
    models.slice(0, name === 'one' ? 1 : 1 + (at % 3)).map((model, nth) => deploymentOf(device, model, at * 3 + nth, wrong)),
  );
  const [last, second] = [models.at(-1), devices[2]];
  if (name !== 'one' && last && second) {
    const serving = { state: 'serving', is_serving: true, port: 8090 } as const;
    deployments.push({ ...deploymentOf(second, last, 9_000, false), settings: { context: 512, threads: 4 }, port: 8090, serving });
  }
  const commands = deployments.slice(0, 40).map((one, at) => commandOf(one, at, wrong));
  const operations = name === 'empty' ? [] : operationsOf(name, devices, models);
  const keys = keysOf(name);
  return {
    name,
    devices,
    models,
    deployments,
    commands,
    operations,
    results: devices.slice(0, MOST_WORKED_ON).map((device, at) => resultOf(device, at, wrong)),
    keys,
    members: membersOf(name),
    invitations: name === 'empty' ? [] : [
      { invitation_id: hex('inv', 1), role: 'operator', email: 'kim@example.com', created_at: ago(HOUR), expires_at: ahead(2 * DAY) },
    ],
    tokens: name === 'empty' ? [] : [
      { token_id: hex('tok', 1), name: 'nightly report', scopes: ['usage:read', 'devices:read'], created_at: ago(20 * DAY), expires_at: ahead(70 * DAY), last_used_at: ago(9 * HOUR) },
      { token_id: hex('tok', 2), name: 'deploy from CI', scopes: ['deployments:read', 'deployments:write', 'models:read'], created_at: ago(80 * DAY), expires_at: ahead(3 * DAY), last_used_at: null },
    ].slice(0, name === 'one' ? 1 : 2) as Token[],
    audit: auditOf(name, devices, models),
    logs: logsOf(name),
    sessions: [
      { session_id: hex('ses', 1), account_id: 'acc_1', kind: 'browser', login: 'password', agent: 'Chromium on Linux', address: '192.0.2.7', created_at: ago(2 * HOUR), last_used_at: ago(0), expires_at: ahead(30 * DAY), current: true },
      ...(name === 'empty' ? [] : [{ session_id: hex('ses', 2), account_id: 'acc_1', kind: 'program', login: 'device', agent: 'link 1.3.0 (laptop)', address: '192.0.2.9', created_at: ago(9 * DAY), last_used_at: ago(3 * HOUR), expires_at: ahead(21 * DAY), current: false } as const]),
    ],
    origins: name === 'empty' ? [] : ['http://127.0.0.1:8099', 'https://link.example.com'],
    summary: summaryOf(name, { devices, models, deployments, commands, operations, keys }),
  };
}

function deviceOf(at: number, name: WorldName): Device {
  const wrong = name === 'failing';
  const offline = wrong ? at % 5 === 1 : name === 'many' && at % 17 === 3;
  const updating = name !== 'one' && at % 29 === 5;
  const place = PLACES[at % PLACES.length] ?? 'lab';
  const named = wrong && at === 2 ? LONG : wrong && at === 4 ? HOSTILE : wrong && at === 6 ? 'x'.repeat(10_000) : `${place}-${String(Math.floor(at / PLACES.length) + 1).padStart(2, '0')}`;
  return {
    device_id: hex('dev', at),
    name: named,
    online: !offline,
    status: updating && !offline ? 'updating' : 'online',
    agent_version: wrong && at % 7 === 0 ? '1.2.4' : at % 23 === 4 ? '1.4.0-beta.2' : '1.3.0',
    platform: { os: at % 11 === 6 ? 'macos' : 'linux', arch: at % 4 === 1 ? 'aarch64' : 'x86_64', hostname: `${place}${at}` },
    registered_at: ago((at + 3) * DAY),
    last_seen_at: offline ? ago((at + 1) * 37 * MINUTE) : ago(20_000),
    tags: at % 3 === 0 ? ['ground-floor'] : at % 3 === 1 ? ['first-floor', 'night'] : [],
    system: systemOf(at, wrong),
    ...(wrong && at % 7 === 0
      ? { last_update: { from: '1.2.4', to: '1.3.0', outcome: 'rolled_back', reason: 'the new agent did not reach the backend within 120 s' } as const }
      : {}),
  };
}

function systemOf(at: number, wrong: boolean): SystemSample {
  const disk = wrong && at % 6 === 0 ? 0.96 : 0.25 + 0.5 * noise(at + 300);
  return {
    reported_at: ago(20_000),
    agent: { cpu_percent: 0.4, memory_bytes: 21e6 },
    cpu_count: 8,
    cpu_percent: Math.round((3 + 70 * noise(at)) * 10) / 10,
    memory: { total_bytes: 16 * GB, used_bytes: Math.round(16 * GB * (0.3 + 0.5 * noise(at + 100))) },
    disk: { total_bytes: 512 * GB, used_bytes: Math.round(512 * GB * disk), free_bytes: Math.round(512 * GB * (1 - disk)) },
    gpus: at % 4 === 0 ? [{ name: 'RTX A2000', memory_total_bytes: 12 * GB, memory_used_bytes: 5.4 * GB, utilisation_percent: 38, temperature_celsius: 61 }] : [],
    temperature_celsius: 44 + Math.round(20 * noise(at + 40)),
    transport: at % 5 === 0 ? 'zenoh' : 'http',
  };
}

function deploymentOf(device: Device, model: Model, at: number, wrong: boolean): Deployment {
  const failed = wrong && at % 9 === 4;
  const under = at % 31 === 7;
  const stale = wrong && at % 4 === 0 && !failed && !under;
  const state = failed ? 'failed' : under ? 'downloading' : 'completed';
  const serving = state === 'completed' && at % 13 !== 8;
  const size = model.size_bytes ?? 1;
  return {
    deployment_id: hex('dpl', at),
    model_id: model.model_id,
    model_name: model.name,
    ...(model.publisher ? { publisher: model.publisher } : {}),
    device_id: device.device_id,
    device_name: device.name,
    command_id: hex('cmd', at),
    alias: model.name,
    task: model.facts?.task ?? null,
    port: 8080 + (at % 3),
    state,
    progress: { bytes_done: under ? Math.round(size * 0.42) : failed ? Math.round(size * 0.71) : size, bytes_total: size },
    ...(failed ? { reason: 'the checksum of the file is not the one of the model: the copy at the mirror is damaged' } : {}),
    allowlist_digest: 'x',
    stale,
    current: true,
    created_at: ago((at + 1) * 41 * MINUTE),
    updated_at: ago((at + 1) * 29 * MINUTE),
    serving: state === 'completed' ? { state: serving ? 'serving' : 'not_serving', is_serving: serving, port: 8080 + (at % 3) } : null,
  };
}

const COMMANDS = ['DEPLOY_MODEL', 'REPAIR_SERVING', 'START_SERVING', 'REPAIR_SERVING', 'UPDATE_AGENT', 'STOP_SERVING'] as const;

function commandOf(one: Deployment, at: number, wrong: boolean): Command {
  const type = COMMANDS[at % COMMANDS.length] ?? 'DEPLOY_MODEL';
  const state = at % 8 === 2 ? 'sent' : wrong && at % 8 === 3 ? 'expired' : 'processed';
  const status = wrong && at % 4 === 1 ? 'failed' : 'succeeded';
  const output = status === 'failed' ? 'port 8080 is in use by another program' : type === 'UPDATE_AGENT' ? 'Updated from 1.2.4 to 1.3.0.' : '2 origins may call this model; the model kept running';
  return {
    command_id: hex('cmd', at),
    type,
    state,
    device_id: one.device_id,
    device_name: one.device_name ?? null,
    ...(type === 'UPDATE_AGENT' ? {} : { model_id: one.model_id, model_name: one.model_name ?? null, port: one.port }),
    created_at: ago((at + 1) * 17 * MINUTE),
    expires_at: state === 'sent' ? ahead(DAY - (at + 1) * 17 * MINUTE) : ago(HOUR),
    ...(state === 'processed' ? { result: { status, output, reported_at: ago((at + 1) * 17 * MINUTE - 4_000) } } : {}),
  };
}

function operationsOf(name: WorldName, devices: readonly Device[], models: readonly Model[]): Operation[] {
  const model = models[0]?.model_id ?? '';
  const by = { kind: 'user', id: 'usr_1' } as const;
  const total = Math.min(devices.length, MOST_WORKED_ON);
  const wrong = name === 'failing';
  const all: Operation[] = [
    { operation_id: hex('opr', 1), work: { kind: 'repair', model_id: model }, state: wrong ? 'failed' : 'running', devices: total, counts: { pending: wrong ? 0 : Math.floor(total / 4), sent: 0, succeeded: total - Math.floor(total / 4), failed: wrong ? Math.floor(total / 4) : 0, skipped: 0, cancelled: 0 }, requested_by: by, created_at: ago(4 * MINUTE), ...(wrong ? { ended_at: ago(MINUTE) } : {}) },
    { operation_id: hex('opr', 2), work: { kind: 'update', version: '1.3.0' }, state: 'succeeded', devices: total, counts: { pending: 0, sent: 0, succeeded: total, failed: 0, skipped: 0, cancelled: 0 }, requested_by: by, select: 'tag=night,version<1.3.0', created_at: ago(26 * HOUR), ended_at: ago(25 * HOUR) },
    { operation_id: hex('opr', 3), work: { kind: 'tag', tags: ['ground-floor'] }, state: 'cancelled', devices: total, counts: { pending: 0, sent: 0, succeeded: total - 5, failed: 0, skipped: 0, cancelled: 5 }, requested_by: { kind: 'token', id: hex('tok', 2) }, created_at: ago(3 * DAY), ended_at: ago(3 * DAY - MINUTE) },
  ];
  return name === 'one' ? all.slice(1, 2) : all;
}

function resultOf(device: Device, at: number, wrong: boolean): OperationDevice {
  const failed = wrong && at % 4 === 1;
  const state = failed ? 'failed' : !wrong && at % 4 === 3 ? 'pending' : 'succeeded';
  return {
    device_id: device.device_id,
    name: device.name,
    state,
    attempts: state === 'pending' ? 0 : 1,
    ...(failed ? { code: 'port-in-use', detail: 'port 8080 is in use by another program' } : {}),
    updated_at: ago((at + 1) * 9_000),
  };
}

function keysOf(name: WorldName): Key[] {
  if (name === 'empty') return [];
  const all: Key[] = [
    { key_id: hex('key', 1), kind: 'fleet', name: 'ward devices', created_at: ago(30 * DAY), created_by: 'usr_1', devices: 38, max_devices: 100, tags: ['ground-floor'], revoked: false, expires_at: ahead(60 * DAY) },
    { key_id: hex('key', 2), kind: 'fleet', name: name === 'failing' ? LONG : 'kiosks', created_at: ago(80 * DAY), created_by: 'usr_2', devices: 12, max_devices: null, tags: [], revoked: false, expires_at: ahead(2 * DAY) },
    { key_id: hex('key', 3), kind: 'registration', name: 'lab-07', created_at: ago(DAY), created_by: 'usr_1', devices: 1, tags: [], revoked: false, expires_at: ahead(DAY) },
    { key_id: hex('key', 4), kind: 'registration', name: 'depot-02', created_at: ago(90 * DAY), devices: 0, tags: ['night'], revoked: true },
  ];
  return name === 'one' ? all.slice(0, 1) : all;
}

function membersOf(name: WorldName): Member[] {
  const all: Member[] = [
    { user_id: 'usr_1', email: 'ada@example.com', role: 'owner', joined_at: ago(200 * DAY) },
    { user_id: 'usr_2', email: 'grace@example.com', role: 'admin', joined_at: ago(120 * DAY) },
    { user_id: 'usr_3', email: 'a-very-long-name-of-a-person@a-department-of-a-large-organisation.example.org', role: 'operator', joined_at: ago(12 * DAY) },
    { user_id: 'usr_4', email: 'linus@example.com', role: 'viewer', joined_at: ago(2 * DAY) },
  ];
  return name === 'empty' || name === 'one' ? all.slice(0, 1) : all;
}

function auditOf(name: WorldName, devices: readonly Device[], models: readonly Model[]): AuditEntry[] {
  const user = (id: string) => ({ kind: 'user', id }) as const;
  const entries: Omit<AuditEntry, 'entry_id' | 'at'>[] = [
    { actor: user('usr_1'), action: 'login.password', subject: 'usr_1', outcome: 'done', detail: 'with the password', address: '192.0.2.7' },
    { actor: user('usr_1'), action: 'deployment.create', subject: models[0]?.model_id ?? '', outcome: 'done', detail: `on ${devices[0]?.name ?? ''}`, address: '192.0.2.7' },
    { actor: user('usr_4'), action: 'device.remove', subject: devices[0]?.device_id ?? '', outcome: 'refused', detail: 'a viewer may not do this', address: '192.0.2.41' },
    { actor: { kind: 'device', id: devices[0]?.device_id ?? '' }, action: 'device.register', subject: devices[0]?.device_id ?? '', outcome: 'done', detail: 'with the key ward devices', address: '198.51.100.4' },
    { actor: { kind: 'system' }, action: 'deployment.purge', subject: hex('key', 4), outcome: 'done', detail: '' },
  ];
  const times = { empty: 0, one: 1, many: 8, failing: 8 }[name];
  const wanted = Array.from({ length: times }, () => entries).flat();
  const first = name === 'empty' ? entries.slice(0, 1) : wanted;
  return first.map((entry, at) => ({ entry_id: hex('aud', at), at: ago(at * 23 * MINUTE), ...entry }));
}

function logsOf(name: WorldName): DeviceLog[] {
  const lines: [DeviceLog['severity'], string, string][] = [
    ['info', 'transport', 'connected to the backend by websocket'],
    ['info', 'engine', 'phi-4-mini is served on port 8080 (2.9 GB)'],
    ['warning', 'system', 'the disk has 20 GB left'],
    ['info', 'command', 'REPAIR_SERVING of phi-4-mini: 2 origins may call this model'],
    ['error', 'download', 'the mirror ended the transfer after 1.2 GB of 2.5 GB; retry in 8 s, from where it was cut'],
    ['info', 'download', 'resumed at 1.2 GB'],
  ];
  const count = { empty: 0, one: 6, many: 60, failing: 60 }[name];
  return Array.from({ length: count }, (_, at) => {
    const [severity, category, message] = lines[at % lines.length] ?? ['info', 'agent', ''];
    const shown = name === 'failing' && at === 58 ? `${HOSTILE} ${'x'.repeat(300)}` : message;
    return { number: at + 1, received_at: ago((count - at) * 97_000), severity, category, message: shown };
  });
}

type Counted = Pick<World, 'devices' | 'models' | 'deployments' | 'commands' | 'operations' | 'keys'>;

/** The counts of what the lists have. */
function summaryOf(name: WorldName, { devices, models, deployments, commands, operations, keys }: Counted): Summary {
  const versions = new Map<string, number>();
  for (const { agent_version: version } of devices) versions.set(version, (versions.get(version) ?? 0) + 1);
  const own = models.filter(({ owned }) => owned);
  const ends = ({ expires_at: end, revoked, max_devices: most, kind, devices: used }: Key): boolean =>
    !revoked && end != null && Date.parse(end) < NOW + 7 * DAY && used < (kind === 'registration' ? 1 : (most ?? Infinity));
  const inferences = name === 'empty' ? 0 : inferencesIn(Math.floor(NOW / DAY) * DAY, DAY);
  return {
    devices: {
      total: devices.length,
      online: devices.filter(({ online }) => online).length,
      offline: devices.filter(({ online }) => !online).length,
      updating: devices.filter(({ status }) => status === 'updating').length,
      rolled_back: devices.filter(({ last_update: last }) => last?.outcome === 'rolled_back').length,
      nearly_full: devices.filter(({ system }) => system?.disk && system.disk.free_bytes * 10 <= system.disk.total_bytes).length,
    },
    deployments: {
      total: deployments.length,
      failed: deployments.filter(({ state }) => state === 'failed').length,
      in_progress: deployments.filter(({ state }) => state === 'downloading').length,
      serving: deployments.filter(({ serving }) => serving?.is_serving).length,
      serving_offline: deployments.filter(({ serving, device_id: id }) => serving?.is_serving && devices.some((device) => device.device_id === id && !device.online)).length,
      unserved: deployments.filter(({ state, serving }) => state === 'completed' && serving?.state === 'not_serving' && serving.detail).length,
      stale: deployments.filter(({ stale }) => stale).length,
    },
    models: { total: own.length, incomplete: own.filter(({ ready }) => !ready).length },
    commands: {
      open: commands.filter(({ state }) => state === 'sent').length,
      failed_last_day: commands.filter(({ state, result }) => state === 'expired' || result?.status === 'failed').length,
    },
    repairs: { sent: commands.filter(({ state, type }) => state === 'sent' && type === 'REPAIR_SERVING').length },
    keys: { total: keys.length, ending_within_week: keys.filter(ends).length },
    operations: { running: operations.filter(({ state }) => state === 'running').length },
    versions: [...versions].map(([version, count]) => ({ version, devices: count })),
    usage_today: { requests: inferences, prompt_tokens: inferences * PROMPT, completion_tokens: inferences * COMPLETION },
  };
}
