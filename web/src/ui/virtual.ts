// Only the rows that can be seen are in the document. The virtualizer decides which; this binds it to a component.

import { useSignal } from '@preact/signals';
import {
  elementScroll, observeElementOffset, observeElementRect, Virtualizer, type VirtualItem,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';

export interface Virtual {
  items: VirtualItem[];
  total: number;
}

/** Returns the rows of `count` that are in sight of `scroller`, each `height` pixels high. */
export function useVirtual(scroller: RefObject<HTMLElement | null>, count: number, height: number): Virtual {
  const drawn = useSignal(0);
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 8,
    scrollToFn: elementScroll,
    observeElementRect,
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
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  void drawn.value;
  return { items: virtualizer.getVirtualItems(), total: virtualizer.getTotalSize() };
}
