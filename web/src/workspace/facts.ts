// What this page can find out after a failed request: from the browser, from the port itself, and from the backend. Nothing
// here judges; `causes.ts` does.

import { ask, GET } from '../data/client';
import { devices } from '../data/store';
import type { FailedRequest, Facts } from './causes';
import type { Target } from './targets';

/** How long the port may take to say anything, in milliseconds. */
const PROBE = 3_000;

/** Collects everything that `classify` wants to know about a failure of `target`. */
export async function gather(target: Target, request: FailedRequest): Promise<Facts> {
  const [reachable, permission, known] = await Promise.all([
    request.kind === 'network' ? answers(target.port) : true,
    permissionState(),
    askBackend(target),
  ]);
  return {
    request,
    reachable,
    permission,
    page: {
      origin: location.origin,
      secure: window.isSecureContext,
      loopback: isLoopback(location.hostname),
      https: location.protocol === 'https:',
      // Safari treats a request to this computer as mixed content on an https page.
      webkit: 'GestureEvent' in window,
    },
    target: { model: target.name, device: target.device, port: target.port },
    other: devices.row(request.device ?? '')?.peek().name ?? null,
    ...known,
  };
}

/** Returns the state of the permission to reach this computer, or `null` where the browser has none. */
export async function permissionState(): Promise<string | null> {
  for (const name of ['loopback-network', 'local-network-access']) {
    try {
      return (await navigator.permissions.query({ name: name as PermissionName })).state;
    } catch {
      // This browser does not know the permission by this name.
    }
  }
  return null;
}

/** Tells whether a page needs the permission: one that comes from this computer itself does not. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127\./.test(host);
}

/**
 * Tells whether anything answers on a port of this computer. A request without CORS needs no preflight, so it gets through
 * where the chat is refused; its answer stays unreadable.
 */
async function answers(port: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(PROBE);
    await fetch(`http://127.0.0.1:${port}/v1/models`, { mode: 'no-cors', cache: 'no-store', credentials: 'omit', signal });
    return true;
  } catch {
    return false;
  }
}

type Known = Pick<Facts, 'backend' | 'allowlist' | 'device' | 'deployment'>;

async function askBackend({ modelId, deviceId }: Target): Promise<Known> {
  try {
    const query = { device_id: deviceId, model_id: modelId, current: true, limit: 1 };
    const [{ items }, device, allowlist] = await Promise.all([
      ask(GET('/api/v1/deployments', { params: { query } })),
      ask(GET('/api/v1/devices/{device_id}', { params: { path: { device_id: deviceId } } })),
      ask(GET('/api/v1/settings/allowlist')),
    ]);
    const [deployment] = items;
    const { serving } = deployment ?? {};
    return {
      backend: true,
      allowlist: [...allowlist.origins, ...(allowlist.defaults ?? [])],
      device: { online: device.online, updating: device.status === 'updating' },
      deployment: deployment
        ? {
            stale: deployment.stale,
            serving: serving?.is_serving ?? false,
            state: serving?.state ?? 'not_serving',
            detail: serving?.detail ?? null,
            port: serving?.port ?? deployment.port,
          }
        : null,
    };
  } catch {
    return { backend: false, allowlist: null, device: null, deployment: null };
  }
}
