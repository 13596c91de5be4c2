// Documents of the backend as tests need them.

import type { Deployment, Device, InstallInfo, Model } from '../src/data/types';

export function device(id: string, more: Partial<Device> = {}): Device {
  return {
    device_id: `dev_${id}`,
    name: id,
    online: true,
    status: 'online',
    agent_version: '1.3.0',
    platform: { os: 'linux', arch: 'x86_64', hostname: `host-${id}` },
    registered_at: '2026-11-01T00:00:00Z',
    last_seen_at: '2026-11-20T00:00:00Z',
    tags: [],
    ...more,
  };
}

export function deployment(id: string, deviceId: string, more: Partial<Deployment> = {}): Deployment {
  return {
    deployment_id: `dpl_${id}`,
    model_id: `mdl_${id}`,
    device_id: deviceId,
    command_id: `cmd_${id}`,
    alias: `model-${id}`,
    port: 8080,
    state: 'completed',
    progress: { bytes_done: 1, bytes_total: 1 },
    allowlist_digest: 'x',
    stale: false,
    current: true,
    created_at: '2026-11-01T00:00:00Z',
    updated_at: '2026-11-01T00:00:00Z',
    serving: { state: 'serving', is_serving: true, port: 8080 },
    ...more,
  };
}

export function model(id: string, more: Partial<Model> = {}): Model {
  return {
    model_id: `mdl_${id}`,
    name: `model-${id}`,
    file_name: `model-${id}.gguf`,
    plugin: 'gguf',
    shared: false,
    ready: true,
    owned: true,
    created_at: '2026-11-01T00:00:00Z',
    size_bytes: 2e9,
    ...more,
  };
}

/** The installer of a backend that knows its address, with a release for these systems; `null` is no release. */
export function installer(released: readonly string[] | null = ['linux'], url: string | null = 'http://127.0.0.1'): InstallInfo {
  const base = url ?? '{backend}';
  const line = (system: string, variable: string): string => {
    if (system !== 'windows') return `curl -fsSL ${base}/install.sh | ${url ? '' : `LINK_INSTALL_URL=${base}/releases LINK_BACKEND_URL=${base} `}${variable}={key} sh`;
    return `${url ? '' : `$env:LINK_INSTALL_URL='${base}/releases'; $env:LINK_BACKEND_URL='${base}'; `}$env:${variable}='{key}'; irm ${base}/install.ps1 | iex`;
  };
  return {
    backend_url: url,
    release: released && { version: '1.3.0', channel: 'stable' },
    systems: ['linux', 'macos', 'windows'].map((system) => ({
      system,
      shell: system === 'windows' ? 'powershell' : 'sh',
      ...(released ? { released: released.includes(system) } : {}),
      registration_line: line(system, 'LINK_REGISTRATION_KEY'),
      fleet_line: line(system, 'LINK_FLEET_KEY'),
    })),
  };
}

/** Returns numbers from 0 to 1 that are the same for a seed. */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Names that try to be markup, to turn the line round, to be endless, or to hide. */
export const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '\u202eevil\u202c',
  'A'.repeat(10_000),
  'nul\u0000byte',
  'zero\u200bwidth',
  'line\nbreak',
  '\ud800 lone',
  '=1+1',
];
