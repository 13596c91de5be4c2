// Whether the backend serves newer pages than this one: after an upgrade an open page goes on, but parts that it has not loaded
// are gone. Looked for when the event stream begins again, as it does after a restart, and when a part cannot be loaded. The
// page itself never reloads: what a person has typed stays until the person decides.

import { signal } from '@preact/signals';

/** Whether the backend is known to have newer pages. */
export const outdated = signal(false);

let looking: Promise<void> | null = null;

/** Compares the script that this page was started by with the one of the backend's page. */
export function lookForNewer(): Promise<void> {
  looking ??= look().finally(() => (looking = null));
  return looking;
}

async function look(): Promise<void> {
  const own = document.querySelector('script[type=module][src^="/app/index-"]')?.getAttribute('src') ?? null;
  // The pages that are served for development have no built script.
  if (own === null || outdated.peek()) return;
  try {
    const response = await fetch('/', { cache: 'no-cache', credentials: 'same-origin', headers: { accept: 'text/html' } });
    const theirs = response.ok ? entryOf(await response.text()) : null;
    // The page of a proxy names no script of ours.
    if (theirs !== null && theirs !== own) outdated.value = true;
  } catch {
    // The backend is away; the stream begins again when it is back.
  }
}

/** Returns the script that a page starts, as the build names it. */
function entryOf(html: string): string | null {
  return /<script[^>]*\bsrc="(?:https?:\/\/[^"/]+)?(\/app\/index-[\w-]+\.js)"/.exec(html)?.[1] ?? null;
}
