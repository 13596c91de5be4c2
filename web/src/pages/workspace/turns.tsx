// The turns of a conversation. A long conversation has only its visible turns in the document, so that drawing it costs the same
// however long it is.

import { useSignal } from '@preact/signals';
import {
  defaultRangeExtractor, elementScroll, observeElementOffset, observeElementRect, Virtualizer, type Range,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useCallback, useLayoutEffect, useMemo } from 'preact/hooks';

import type { Turn } from '../../workspace/conversations';
import { running } from './asking';
import { Exchange } from './exchange';
import { edited } from './keeping';

/** How many turns are all drawn: the browser's own search finds what is in the document. */
const ALL_DRAWN = 40;
/** The height of a turn that was never drawn, in pixels. */
const GUESSED = 320;
/** Whether the browser keeps what is in sight in its place when something above it grows. Else the virtualizer does. */
const KEEPS_PLACE = CSS.supports('overflow-anchor', 'auto');

interface Props {
  turns: readonly Turn[];
  /** What is scrolled. */
  log: RefObject<HTMLElement | null>;
  /** Called after each change of the answer that is under way, and when turns in sight turn out higher than thought. */
  grown: () => void;
}

/** A turn in the document, and the height of those before it that are not. */
interface Placed {
  index: number;
  skipped: number;
}

export function Turns({ turns, log, grown }: Props) {
  const { placed, measure } = useDrawn(turns, log);
  useLayoutEffect(grown);
  return (
    <div class="turns">
      {placed.flatMap(({ index, skipped }) => {
        const turn = turns[index];
        if (!turn) return [];
        const last = index === turns.length - 1;
        // The last one grows. Nothing is below it, so its height is not needed.
        const exchange = (
          <div key={turn.id} class="exchange" data-index={index} ref={last ? null : measure}>
            <Exchange turn={turn} last={last} grown={grown} />
          </div>
        );
        const room = <div key={`before ${turn.id}`} class="skipped" style={{ height: `${skipped}px` }} />;
        return skipped > 0 ? [room, exchange] : [exchange];
      })}
    </div>
  );
}

interface Drawn {
  placed: Placed[];
  /** Called with each turn that comes into the document: how high it is shows once its answer is drawn. */
  measure: (exchange: HTMLElement | null) => void;
}

function useDrawn(turns: readonly Turn[], log: Props['log']): Drawn {
  const changes = useSignal(0);
  const long = turns.length > ALL_DRAWN;
  const options = {
    enabled: long,
    count: turns.length,
    getScrollElement: () => log.current,
    getItemKey: (index: number) => turns[index]?.id ?? index,
    estimateSize: () => GUESSED,
    overscan: 4,
    // A conversation is opened at its end.
    initialOffset: () => turns.length * GUESSED,
    initialRect: { width: 0, height: GUESSED },
    rangeExtractor: (range: Range) => {
      const wanted = new Set([...defaultRangeExtractor(range), ...staying(turns, log.current)]);
      return [...wanted].filter((index) => index < turns.length).toSorted((a, b) => a - b);
    },
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => {
      changes.value += 1;
    },
  };
  const virtualizer = useMemo(() => new Virtualizer<HTMLElement, HTMLElement>(options), []);
  virtualizer.setOptions(options);
  if (KEEPS_PLACE) virtualizer.shouldAdjustScrollPositionOnItemSizeChange = () => false;
  const observer = useMemo(() => new ResizeObserver((entries) => {
    for (const { target, borderBoxSize } of entries) {
      const height = borderBoxSize[0]?.blockSize ?? 0;
      if (target.isConnected && target instanceof HTMLElement) virtualizer.resizeItem(Number(target.dataset['index']), Math.round(height));
      else observer.unobserve(target);
    }
  }), []);
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => () => observer.disconnect(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  const measure = useCallback((exchange: HTMLElement | null) => exchange && observer.observe(exchange), []);
  void changes.value;
  if (!long) return { placed: turns.map((_, index) => ({ index, skipped: 0 })), measure };
  let end = 0;
  const placed = virtualizer.getVirtualItems().map((item) => {
    const skipped = item.start - end;
    ({ end } = item);
    return { index: item.index, skipped };
  });
  return { placed, measure };
}

/** Returns the turns that are drawn wherever they are: what leaves the document loses the focus and what was typed in it, an answer
 * that grows would be drawn from its beginning again, and the last turn is not measured. */
function staying(turns: readonly Turn[], log: HTMLElement | null): number[] {
  const at = document.activeElement;
  const focused = log?.contains(at) ? at?.closest<HTMLElement>('.exchange')?.dataset['index'] : undefined;
  const answered = running.peek()?.turn;
  const kept = turns.flatMap(({ id }, index) => (edited.has(id) || id === answered ? [index] : []));
  return [...kept, ...(focused === undefined ? [] : [Number(focused)]), turns.length - 1];
}
