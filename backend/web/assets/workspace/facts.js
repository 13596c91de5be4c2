// What this page can find out after a failed request: from the browser, from the port itself, and
// from the backend. Nothing here judges; `causes.js` does.

import * as api from '../shared/api.js';

/** How long the port may take to say anything, in milliseconds. */
const PROBE = 3_000;

/** Collects everything that `classify` wants to know about a failure of `target`. */
export async function gather(target, seen) {
  const [reachable, permission, known] = await Promise.all([
    seen.kind === 'network' ? answers(target.port) : true,
    permissionState(),
    ask(target),
  ]);
  return {
    seen,
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
    ...known,
  };
}

/**
 * Tells whether anything answers on a port of this computer. A request without CORS needs no
 * preflight, so it gets through where the chat is refused; its answer stays unreadable.
 */
async function answers(port) {
  try {
    await fetch(`http://127.0.0.1:${port}/v1/models`, {
      mode: 'no-cors',
      cache: 'no-store',
      credentials: 'omit',
      signal: AbortSignal.timeout(PROBE),
    });
    return true;
  } catch {
    return false;
  }
}

/** The state of the permission to reach this computer, or null where the browser has none. */
async function permissionState() {
  for (const name of ['loopback-network', 'local-network-access']) {
    try {
      return (await navigator.permissions.query({ name })).state;
    } catch {
      // This browser does not know the permission by this name.
    }
  }
  return null;
}

async function ask(target) {
  try {
    const [deployments, devices, allowlist] = await Promise.all([
      api.deployments(),
      api.devices(),
      api.allowlist(),
    ]);
    const deployment = deployments.find(
      (item) => item.model_id === target.modelId && item.device_id === target.deviceId,
    );
    const device = devices.find((item) => item.device_id === target.deviceId);
    return {
      backend: true,
      allowlist: [...allowlist.origins, ...allowlist.defaults],
      device: device ? { online: device.online, updating: device.status === 'updating' } : null,
      deployment: deployment
        ? {
            stale: deployment.stale,
            serving: deployment.serving?.is_serving ?? false,
            state: deployment.serving?.state ?? 'not_serving',
            detail: deployment.serving?.detail ?? null,
            port: deployment.serving?.port ?? deployment.port,
          }
        : null,
    };
  } catch {
    return { backend: false, allowlist: null, device: null, deployment: null };
  }
}

function isLoopback(host) {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127\./.test(host);
}
