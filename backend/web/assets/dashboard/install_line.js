// The line that installs Link on a device and registers it with this backend.

import { button, element } from '../shared/dom.js';

/**
 * Asks the backend for its installer and its release: `knows` tells whether the installer knows the address of the
 * backend, `publishes` whether the backend has a release to install.
 */
export async function installer() {
  const [script, release] = await Promise.all([
    fetch('/install.sh'),
    fetch('/releases/manifest.json', { method: 'HEAD' }),
  ]);
  const text = script.ok ? await script.text() : '';
  return { knows: text.includes('LINK_BACKEND_URL:='), publishes: release.ok };
}

/** Returns the line; `kind` and `key` are those of an enrolment key. */
export function installLine({ knows }, kind, key) {
  const own = location.origin;
  const variable = kind === 'fleet' ? 'LINK_FLEET_KEY' : 'LINK_REGISTRATION_KEY';
  const places = knows ? '' : `LINK_INSTALL_URL=${own}/releases LINK_BACKEND_URL=${own} `;
  return `curl -fsSL ${own}/install.sh | ${places}${variable}=${key} sh`;
}

/** Copies the text of `code`; without the permission to copy, selects it. Returns what a button says then. */
export async function copy(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return 'Copied';
  } catch {
    getSelection().selectAllChildren(code);
    return 'Selected: press Ctrl+C';
  }
}

/** Returns a text with a button that copies it; `what` names the text for a screen reader. */
export function copyable(text, what) {
  const code = element('code', {}, text);
  const clicked = async (event) => {
    event.target.textContent = await copy(code);
  };
  return element(
    'div',
    { class: 'secret-line' },
    code,
    button('Copy', { class: 'small', 'aria-label': `Copy ${what}`, on: { click: clicked } }),
  );
}
