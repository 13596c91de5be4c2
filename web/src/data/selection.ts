// Selections of devices, such as `tag=lab,version<1.3.0,state=online`: the grammar of the backend's `select`, so that what a
// page filters by is what the API and the command line select.

import { text } from '../text';
import { brief } from '../text/visible';
import type { Device } from './types';

export type DeviceState = 'online' | 'offline' | 'updating';
export type UpdateEnd = 'committed' | 'rolled_back';
export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>=';
export type Term =
  | { field: 'tag'; comparison: '=' | '!='; value: string }
  | { field: 'state'; comparison: '=' | '!='; value: DeviceState }
  | { field: 'update'; comparison: '=' | '!='; value: UpdateEnd }
  | { field: 'version' | 'disk'; comparison: Comparison; value: string }
  | Unread;
/** A part of a selection that is not a term. It matches no device, so that work on a mistyped selection touches none. */
interface Unread {
  field: 'unread';
  comparison: null;
  /** What was written. */
  value: string;
}

export const MOST_TERMS = 20;
const STATES: readonly DeviceState[] = ['online', 'offline', 'updating'];
const ENDS: readonly UpdateEnd[] = ['committed', 'rolled_back'];
const TERM = /^(tag|version|state|update|disk)\s*(!=|<=|>=|=|<|>)\s*(.*)$/su;
const PERCENT = /^(100|[1-9]?\d)$/;
const VERSION =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/u;

/** Returns the state of a device in the words of a selection. */
export function stateOf(device: Device): DeviceState {
  if (!device.online) return 'offline';
  return device.status === 'updating' ? 'updating' : 'online';
}

/** Reads one term, or returns why it is invalid as a text. */
export function parseTerm(written: string): Term | string {
  const match = TERM.exec(written.trim());
  if (!match) return text.selection.notATerm(brief(written.trim(), 40));
  const [, field, sign, value] = match as unknown as [string, Exclude<Term['field'], 'unread'>, Comparison, string];
  const words = value.trim();
  if (field === 'version') {
    return VERSION.test(words) ? { field, comparison: sign, value: words } : text.selection.notAVersion;
  }
  if (field === 'disk') return PERCENT.test(words) ? { field, comparison: sign, value: words } : text.selection.notAShare;
  if (sign !== '=' && sign !== '!=') return text.selection.onlyVersionsCompare;
  if (field === 'update') {
    const end = ENDS.find((known) => known === words);
    return end ? { field, comparison: sign, value: end } : text.selection.notAnEnd;
  }
  if (field === 'state') {
    const state = STATES.find((known) => known === words);
    return state ? { field, comparison: sign, value: state } : text.selection.notAState;
  }
  return words === '' || words.includes(',') ? text.selection.noTag : { field, comparison: sign, value: words };
}

/** Reads a whole selection. Invalid terms, and those beyond the maximum, stay as they were written. */
export function parseSelection(written: string): Term[] {
  const parts = written.split(',').filter((part) => part.trim() !== '');
  const terms = parts.slice(0, MOST_TERMS).map((part) => {
    const term = parseTerm(part);
    return typeof term === 'string' ? unread(part.trim()) : term;
  });
  return parts.length > MOST_TERMS ? [...terms, unread(parts.slice(MOST_TERMS).join(','))] : terms;
}

function unread(value: string): Unread {
  return { field: 'unread', comparison: null, value };
}

/** Returns why a part of a selection is not a term, or null if it is one. */
export function whyUnread({ field, value }: Term): string | null {
  if (field !== 'unread') return null;
  const why = parseTerm(value);
  return typeof why === 'string' && !value.includes(',') ? why : text.selection.tooMany(MOST_TERMS);
}

export function formatTerm({ field, comparison, value }: Term): string {
  return field === 'unread' ? value : `${field}${comparison}${value}`;
}

export function formatSelection(terms: readonly Term[]): string {
  return terms.map(formatTerm).join(',');
}

export function matches(terms: readonly Term[], device: Device): boolean {
  return terms.every((term) => matchesTerm(term, device));
}

function matchesTerm(term: Term, device: Device): boolean {
  switch (term.field) {
    case 'unread':
      return false;
    case 'tag':
      return (device.tags ?? []).includes(term.value) === (term.comparison === '=');
    case 'state':
      return (stateOf(device) === term.value) === (term.comparison === '=');
    case 'update':
      return (device.last_update?.outcome === term.value) === (term.comparison === '=');
    case 'disk': {
      const used = usedDisk(device);
      return used !== null && holds(term.comparison, used - Number(term.value));
    }
    case 'version':
      return holds(term.comparison, compareVersions(device.agent_version, term.value));
  }
}

/** Returns the used share of the disk in whole percent, or nothing if the device reports no disk. */
export function usedDisk({ system }: Device): number | null {
  const disk = system?.disk;
  return disk && disk.total_bytes > 0 ? Math.max(0, Math.floor(((disk.total_bytes - disk.free_bytes) * 100) / disk.total_bytes)) : null;
}

function holds(comparison: Comparison, order: number): boolean {
  switch (comparison) {
    case '=':
      return order === 0;
    case '!=':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}

/** Orders two semantic versions by precedence; a text that is not a version comes first. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [VERSION.exec(left), VERSION.exec(right)];
  if (!a || !b) return Number(a !== null) - Number(b !== null);
  for (const place of [1, 2, 3]) {
    const order = Number(a[place]) - Number(b[place]);
    if (order !== 0) return order;
  }
  return comparePreReleases(a[4], b[4]);
}

function comparePreReleases(left: string | undefined, right: string | undefined): number {
  if (left === undefined || right === undefined) {
    return Number(left === undefined) - Number(right === undefined);
  }
  const [a, b] = [left.split('.'), right.split('.')];
  for (const [place, one] of a.entries()) {
    const other = b[place];
    if (other === undefined) return 1;
    if (one === other) continue;
    const [isNumber, otherIsNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
    if (isNumber && otherIsNumber) return Number(one) - Number(other);
    if (isNumber !== otherIsNumber) return isNumber ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return a.length - b.length;
}
