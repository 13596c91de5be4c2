// Views of a list that a person has named, in this browser only: what the address says, without the page.

export interface SavedView {
  name: string;
  /** The query of the address, without the question mark. */
  query: string;
}

/** How many views a browser keeps for a person. */
export const MOST_VIEWS = 50;
/** The longest name, in characters. */
export const LONGEST_NAME = 60;

/** Two people who share a browser do not see each other's views. */
function placeOf(user: string): string {
  return `link.views.${user}`;
}

/** Returns the views of a user in the order of their names. What is no view is left out. */
export function savedViews(user: string): SavedView[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(placeOf(user)) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isView).slice(0, MOST_VIEWS) : [];
  } catch {
    return [];
  }
}

/** Keeps a view, in the place of one with the same name. Returns false if the browser keeps nothing, or there are too many. */
export function keepView(user: string, view: SavedView): boolean {
  const others = savedViews(user).filter(({ name }) => name !== view.name);
  return others.length < MOST_VIEWS && write(user, [...others, view]);
}

/** Forgets a view. Returns false if the browser forbids it. */
export function dropView(user: string, name: string): boolean {
  return write(user, savedViews(user).filter((view) => view.name !== name));
}

function write(user: string, views: SavedView[]): boolean {
  const sorted = [...views].sort((a, b) => a.name.localeCompare(b.name));
  try {
    localStorage.setItem(placeOf(user), JSON.stringify(sorted));
    return true;
  } catch {
    return false;
  }
}

function isView(item: unknown): item is SavedView {
  const { name, query } = (item ?? {}) as Partial<SavedView>;
  return typeof name === 'string' && name !== '' && name.length <= LONGEST_NAME && typeof query === 'string';
}
