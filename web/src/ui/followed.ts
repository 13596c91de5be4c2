// Keeps a row in sight on which a person has acted, when the action moves the row or puts another row in its place. The focus stays
// at the actions of the row (`action_group.tsx`); the list scrolls to where they are.

import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

import { awaited } from './action_group';

/** Follows the row that was acted on. `actedOn` says what the actions of a row act on; `reveal` scrolls to a row that is not drawn. */
export function useFollowedRow(
  scroller: RefObject<HTMLElement | null>, ids: readonly string[], actedOn: ((id: string) => string | null) | undefined, reveal: (index: number) => void,
): void {
  const last = useRef(ids);
  const gone = useRef<{ thing: string; isFollowed: boolean } | null>(null);
  useLayoutEffect(() => {
    const before = last.current;
    last.current = ids;
    const thing = awaited();
    if (thing === null) gone.current = null;
    // A row that goes while the rows are the same was scrolled out of sight by a person, who wants to be elsewhere.
    else if (gone.current?.thing !== thing) gone.current = { thing, isFollowed: ids !== before };
    if (ids === before) return;
    const index = gone.current?.isFollowed ? ids.findIndex((id) => actedOn?.(id) === thing) : -1;
    if (index >= 0) reveal(index);
    // Only an action gives the focus to the group around its buttons.
    const row = scroller.current?.querySelector('.action-group:focus')?.closest<HTMLElement>('[data-id]');
    const id = row?.dataset['id'];
    if (row && id !== undefined && ids.indexOf(id) !== before.indexOf(id)) row.scrollIntoView?.({ block: 'nearest' });
  });
}
