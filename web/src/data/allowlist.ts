// The origins that later deployments and repairs allow. A change of the list reaches the pages as a reset of the stream, with
// which it is loaded anew.

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { text } from '../text';
import { ask, askTagged, GET, PUT } from './client';
import { followers } from './followers';
import { Problem } from './problem';
import type { Loading } from './store';
import type { Allowlist } from './types';

export const allowlist = signal<Allowlist | null>(null);
export const allowlistLoading = signal<Loading>({ state: 'idle', error: null });

/** How often an origin is added to a list that others change meanwhile. */
const TRIES = 5;

let shown = 0;
let loads = 0;

export async function loadAllowlist(): Promise<void> {
  const mine = (loads += 1);
  allowlistLoading.value = { state: allowlist.peek() ? 'refreshing' : 'loading', error: null };
  try {
    const found = await ask(GET('/api/v1/settings/allowlist'));
    if (mine !== loads) return;
    allowlist.value = found;
    allowlistLoading.value = { state: 'ready', error: null };
  } catch (error) {
    if (mine === loads) allowlistLoading.value = { state: 'failed', error };
  }
}

/** Keeps the list loaded while a component is shown. */
export function useAllowlist(): void {
  useEffect(() => {
    shown += 1;
    void loadAllowlist();
    return () => {
      shown -= 1;
    };
  }, []);
}

/** Changes the account's own origins. If somebody else has changed them since `base`, nothing is overwritten. */
export async function changeOrigins(base: readonly string[], edit: (origins: readonly string[]) => string[]): Promise<void> {
  const { document: current, tag } = await askTagged(GET('/api/v1/settings/allowlist'));
  loads += 1;
  if (current.origins.join('\n') !== base.join('\n')) {
    allowlist.value = current;
    throw new Error(text.settings.conflict);
  }
  const body = { origins: edit(current.origins) };
  const params = tag === null ? {} : { header: { 'If-Match': tag } };
  try {
    allowlist.value = await ask(PUT('/api/v1/settings/allowlist', { params, body }));
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 412) throw error;
    await loadAllowlist();
    throw new Error(text.settings.conflict, { cause: error });
  }
  allowlistLoading.value = { state: 'ready', error: null };
}

/** Adds an origin to the account's own; if somebody else changes them meanwhile, to the changed ones. */
export async function allowOrigin(origin: string): Promise<void> {
  for (let left = TRIES; ; left -= 1) {
    const { document: current, tag } = await askTagged(GET('/api/v1/settings/allowlist'));
    if (current.origins.includes(origin)) return;
    const body = { origins: [...current.origins, origin] };
    const params = tag === null ? {} : { header: { 'If-Match': tag } };
    try {
      await ask(PUT('/api/v1/settings/allowlist', { params, body }));
      return;
    } catch (error) {
      if (left === 1 || !(error instanceof Problem) || error.status !== 412) throw error;
    }
  }
}

followers.add({
  changed: () => undefined,
  reload: () => {
    if (shown > 0) void loadAllowlist();
  },
  clear: () => {
    loads += 1;
    allowlist.value = null;
    allowlistLoading.value = { state: 'idle', error: null };
  },
});
