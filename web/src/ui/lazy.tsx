// A part of a page whose code is loaded when the part is shown: what few people need costs the others nothing.

import { useSignal } from '@preact/signals';
import { h, type ComponentType, type VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

import { lookForNewer } from '../data/edition';
import { text } from '../text';
import { Empty, Skeleton } from './parts';

/** Returns the part that `load` brings. Until then, and if its code is gone, as after an upgrade of the backend, `instead` does what it
 * can. Without that, the part says so. The part takes the focus from the element of `instead` that has the same id. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>, instead?: ComponentType<P>): (props: P) => VNode {
  return (props) => {
    const loaded = useSignal<{ shown: ComponentType<P> } | 'failed' | null>(null);
    const focused = useRef('');
    useEffect(() => {
      load().then(
        (shown) => {
          focused.current = document.activeElement?.id ?? '';
          loaded.value = { shown };
        },
        () => {
          loaded.value = 'failed';
          void lookForNewer();
        },
      );
    }, []);
    useLayoutEffect(() => {
      if (focused.current && document.activeElement === document.body) document.getElementById(focused.current)?.focus();
      focused.current = '';
    }, [loaded.value]);
    const there = loaded.value === null || loaded.value === 'failed' ? instead : loaded.value.shown;
    if (there) return h(there as ComponentType<object>, props);
    return loaded.value === 'failed' ? <Gone /> : <Skeleton lines={2} />;
  };
}

/** What stands in place of code that is gone. */
export function Gone({ alone = false }: { alone?: boolean }) {
  return (
    <Empty alone={alone} icon="warning" title={text.shell.outdatedTitle}>
      <p>{text.shell.outdated}</p>
      <button type="button" class="button" onClick={() => location.reload()}>
        {text.shell.reload}
      </button>
    </Empty>
  );
}
