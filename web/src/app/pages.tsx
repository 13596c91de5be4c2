// Which page an address has. Pages are loaded on demand.

import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';

import { lookForNewer } from '../data/edition';
import { text } from '../text';
import { isOpen, pageAt, type PageName } from '../ui/addresses';
import { Gone } from '../ui/lazy';
import { Empty, Skeleton } from '../ui/parts';
import { path } from '../ui/router';
import { LOADS } from './routes';

type Loaded = ComponentType | 'failed' | null;

export function Page() {
  const name = pageAt(path.value);
  if (name === null) {
    return (
      <Empty alone icon="warning" title={text.shell.missingTitle}>
        <p>{text.shell.missing}</p>
        <a class="button" href="/">
          {text.overviewPage.title}
        </a>
      </Empty>
    );
  }
  return <Lazy key={name} name={name} />;
}

function Lazy({ name }: { name: PageName }) {
  const loaded = useSignal<Loaded>(null);
  useEffect(() => {
    LOADS[name]().then(
      (page) => (loaded.value = page),
      () => {
        loaded.value = 'failed';
        void lookForNewer();
      },
    );
  }, [name]);
  if (loaded.value === 'failed') return <Gone alone />;
  const Shown = loaded.value;
  return Shown ? <Shown /> : <Awaited name={name} />;
}

/** What stands in place of a page until it is there. Those for people who are not logged in have no shell around them. */
export function Awaited({ name }: { name: PageName | null }) {
  return isOpen(name) ? <main><Skeleton alone lines={4} /></main> : <Skeleton alone lines={8} />;
}
