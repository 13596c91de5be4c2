// A dialog whose code is loaded when it is opened: a page that people rarely open it on stays small.

import { useSignal } from '@preact/signals';
import { h, type ComponentType, type VNode } from 'preact';
import { useEffect } from 'preact/hooks';

import { lookForNewer } from '../data/edition';
import { text } from '../text';
import { notice } from './notices';

/** Returns the dialog that `load` brings. If its code is gone, as after an upgrade of the backend, it says so and closes. */
export function onDemand<P extends { close: () => void }>(load: () => Promise<ComponentType<P>>): (props: P) => VNode | null {
  return (props) => {
    const loaded = useSignal<{ shown: ComponentType<P> } | null>(null);
    useEffect(() => {
      let open = true;
      load().then(
        (shown) => {
          if (open) loaded.value = { shown };
        },
        () => {
          if (!open) return;
          notice(`${text.shell.outdatedTitle}. ${text.shell.outdated}`, 'bad');
          void lookForNewer();
          props.close();
        },
      );
      return () => void (open = false);
    }, []);
    return loaded.value && h(loaded.value.shown as ComponentType<object>, props);
  };
}
