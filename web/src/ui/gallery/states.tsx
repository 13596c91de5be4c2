// Devices, deployments and commands in each of their states, as the lists show them.

import type { Command, Deployment, Device } from '../../data/types';
import { CommandBadge } from '../command_badge';
import { DeploymentBadges, DownloadProgress, StateBadge } from '../deployment_badges';
import { DeviceBadge } from '../device_badge';
import { PurposeTag } from '../purpose';
import { AgentVersion } from '../version';
import { Part } from './part';

const SEEN = new Date(Date.now() - 7_200_000).toISOString();
const DEVICE: Device = {
  device_id: 'dev_made_up', name: 'Made up', online: true, status: 'online', agent_version: '1.3.0',
  platform: { os: 'linux', arch: 'x86_64', hostname: 'made-up' }, registered_at: SEEN, last_seen_at: SEEN, tags: [],
};
const DEVICES: readonly Device[] = [
  DEVICE,
  { ...DEVICE, status: 'updating' },
  { ...DEVICE, online: false },
  { ...DEVICE, online: false, status: 'updating' },
  { ...DEVICE, online: false, last_seen_at: null },
];
const SYSTEM: NonNullable<Device['system']> = {
  reported_at: SEEN, cpu_count: 2, cpu_percent: 4, memory: { used_bytes: 1, total_bytes: 2 }, disk: { used_bytes: 1, free_bytes: 1, total_bytes: 2 },
  gpus: [], engines: [], agent: { cpu_percent: 0, memory_bytes: 1 },
};

const DEPLOYMENT: Deployment = {
  deployment_id: 'dpl_made_up', model_id: 'mdl_made_up', device_id: 'dev_made_up', command_id: 'cmd_made_up', alias: 'made-up', port: 8080,
  state: 'completed', progress: { bytes_done: 0, bytes_total: 0 }, allowlist_digest: 'x', stale: false, current: true,
  created_at: SEEN, updated_at: SEEN, serving: { state: 'serving', is_serving: true, port: 8080 },
};
const LOADING: Deployment = { ...DEPLOYMENT, state: 'downloading', progress: { bytes_done: 0, bytes_total: 0 }, serving: null };
const DEPLOYMENTS: readonly Deployment[] = [
  { ...DEPLOYMENT, state: 'queued', serving: null },
  LOADING,
  { ...DEPLOYMENT, state: 'configuring', serving: null },
  DEPLOYMENT,
  { ...DEPLOYMENT, serving: { state: 'starting', is_serving: false, port: 8080 } },
  { ...DEPLOYMENT, serving: { state: 'stopping', is_serving: false, port: 8080 } },
  { ...DEPLOYMENT, serving: { state: 'not_serving', is_serving: false, port: 8080 } },
  { ...DEPLOYMENT, serving: { state: 'not_serving', is_serving: false, port: 8080, detail: 'the engine ended three times' } },
  { ...DEPLOYMENT, state: 'failed', serving: null },
  { ...DEPLOYMENT, state: 'cancelled', serving: null },
];

const COMMAND: Command = {
  command_id: 'cmd_made_up', type: 'REPAIR_SERVING', state: 'sent', device_id: 'dev_made_up', created_at: SEEN, expires_at: SEEN,
};
const COMMANDS: readonly Command[] = [
  COMMAND,
  { ...COMMAND, state: 'processed' },
  { ...COMMAND, state: 'expired' },
  ...(['succeeded', 'failed', 'rejected', 'superseded'] as const).map((status): Command => ({ ...COMMAND, state: 'processed', result: { status, output: '', reported_at: SEEN } })),
];

export function States() {
  return (
    <>
      <Part title="States of devices">
        {DEVICES.map((device, index) => <DeviceBadge key={index} device={device} />)}
        <DeviceBadge device={{ ...DEVICE, online: false }} since />
        <AgentVersion device={DEVICE} />
        <AgentVersion device={{ ...DEVICE, system: { ...SYSTEM, channel: 'beta' } }} />
      </Part>
      <Part title="States of deployments">
        {DEPLOYMENTS.map((deployment, index) => <StateBadge key={index} deployment={deployment} />)}
        <DeploymentBadges deployment={{ ...DEPLOYMENT, stale: true }} />
        <DownloadProgress deployment={LOADING} name="a model before its first byte" />
        <DownloadProgress deployment={{ ...LOADING, progress: { bytes_done: 3e8, bytes_total: 1e9 } }} name="a model on its way" />
      </Part>
      <Part title="States of commands">
        {COMMANDS.map((command, index) => <CommandBadge key={index} command={command} />)}
      </Part>
      <Part title="What models are for">
        <PurposeTag purpose="transcription" />
        <PurposeTag purpose="images" />
        <PurposeTag purpose="sounds" />
      </Part>
    </>
  );
}
