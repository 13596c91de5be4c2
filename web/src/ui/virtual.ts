// Only the rows that can be seen are in the document. The virtualizer decides which; this binds it to a component.

import { useSignal } from '@preact/signals';
import { elementScroll, observeElementOffset, Virtualizer, type Rect, type VirtualItem } from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';

export interface Virtual {
  items: VirtualItem[];
  total: number;
  /** A ref for a row whose height follows its content; the row has its index as `data-index`. */
  measure: (row: HTMLElement | null) => void;
  /** Scrolls until a row is in the middle, so that it is drawn. */
  reveal: (index: number) => void;
}

/** Reports the size of the scrolled element after the browser's layout. Reading it would force a layout within the task that draws
 * the first rows. The first size comes in a task of its own: the observer reports between the layout and the paint of the first
 * rows, and the others would be drawn in the same long task, before any row is in sight. */
function observeRect({ scrollElement }: Virtualizer<HTMLElement, HTMLElement>, sized: (rect: Rect) => void): () => void {
  let first: ReturnType<typeof setTimeout> | undefined;
  let isFirst = true;
  const observer = new ResizeObserver((entries) => {
    const { width = 0, height = 0 } = entries.at(-1)?.contentRect ?? {};
    const report = (): void => sized({ width: Math.round(width), height: Math.round(height) });
    clearTimeout(first);
    if (isFirst) first = setTimeout(report);
    else report();
    isFirst = false;
  });
  if (scrollElement) observer.observe(scrollElement);
  return () => {
    observer.disconnect();
    clearTimeout(first);
  };
}

/** Scrolls, except to the start of a list that was never scrolled: reading its position would force a layout too. */
const scrollTo: typeof elementScroll = (offset, options, instance) => {
  if (offset !== 0 || instance.scrollOffset !== 0) elementScroll(offset, options, instance);
};

/** Returns the rows of `count` that are in sight of `scroller`, each `height` pixels high. For rows that are
 * measured, `keyOf` tells which row is at an index, so that a height stays with its row while others come before it. */
export function useVirtual(
  scroller: RefObject<HTMLElement | null>, count: number, height: number, keyOf?: (index: number) => number | string,
): Virtual {
  const drawn = useSignal(0);
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    ...(keyOf && { getItemKey: keyOf }),
    overscan: 8,
    scrollToFn: scrollTo,
    observeElementRect: observeRect,
    observeElementOffset,
    // Few rows at first: what is in sight is measured with them, and the others follow.
    initialRect: { width: 0, height: 300 },
    onChange: () => {
      drawn.value += 1;
    },
  };
  const virtualizer = useMemo(() => new Virtualizer<HTMLElement, HTMLElement>(options), []);
  virtualizer.setOptions(options);
  const measured = useRef(height);
  if (measured.current !== height) {
    measured.current = height;
    virtualizer.measure();
  }
  useKeptFocus(scroller);
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  const reveal = (index: number): void => virtualizer.scrollToIndex(index, { align: 'center' });
  void drawn.value;
  return { items: virtualizer.getVirtualItems(), total: virtualizer.getTotalSize(), measure: virtualizer.measureElement, reveal };
}

/**
 * Keeps the focus in the list. A row that is drawn in another place loses it, and a row that goes out of sight, or out of the list,
 * leaves it to the list: otherwise the focus jumps to the top of the page, and a keyboard user loses the place.
 */
function useKeptFocus(scroller: RefObject<HTMLElement | null>): void {
  const at = document.activeElement;
  const held = at instanceof HTMLElement && scroller.current?.contains(at) ? at : null;
  useLayoutEffect(() => {
    if (!held || (document.activeElement !== document.body && document.activeElement !== null)) return;
    (held.isConnected ? held : scroller.current)?.focus({ preventScroll: true });
  });
  useLayoutEffect(() => {
    const list = scroller.current;
    return () => {
      if (list?.contains(document.activeElement)) document.getElementById('content')?.focus({ preventScroll: true });
    };
  }, []);
}
