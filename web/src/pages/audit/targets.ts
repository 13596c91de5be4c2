// The things that entries are about, by name. Pure.

import { brief, visible } from '../../text/visible';
import { text } from '../../text';

/** The names of members, devices and models by their ids. */
export type Names = ReadonlyMap<string, string>;

/** How many are offered at a time: those that fit what was typed. */
const OFFERED = 50;

/** Returns what an id is called in the field. Two things of one name have their ids too. */
export function shownAs(id: string, names: Names): string {
  const name = names.get(id);
  if (name === undefined) return id;
  const twins = [...names.values()].filter((other) => other === name).length;
  return twins > 1 ? text.audit.twin(brief(name), id) : visible(name);
}

/** Returns what is offered for what was typed. */
export function offeredFor(words: string, names: Names): string[] {
  const wanted = words.trim().toLowerCase();
  const found = [...names].filter(([id, name]) => name.toLowerCase().includes(wanted) || id.includes(wanted));
  return found.slice(0, OFFERED).map(([id]) => shownAs(id, names));
}

/** Returns the id of what was typed or chosen: that of a name, or the words themselves, which may be the id of what was removed. */
export function idOf(words: string, names: Names): string {
  const typed = words.trim();
  if (names.has(typed)) return typed;
  const [only, ...others] = [...names].filter(([, name]) => visible(name).toLowerCase() === typed.toLowerCase());
  if (only !== undefined && others.length === 0) return only[0];
  return others.length > 0 ? typed : ([...names.keys()].find((id) => typed.endsWith(id)) ?? typed);
}
