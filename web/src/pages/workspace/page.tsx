// The workspace: chat, transcribe and classify with the models on this computer.

// First: the parts add to it.
import './workspace.css';

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { me } from '../../data/store';
import { text } from '../../text';
import { Dialog } from '../../ui/dialog';
import { Icon } from '../../ui/icon';
import { lazy } from '../../ui/lazy';
import { narrow } from '../../ui/narrow';
import { notice } from '../../ui/notices';
import { useTitle } from '../../ui/title';
import { isLoopback, permissionState } from '../../workspace/facts';
import { doubtfulPorts, learn } from '../../workspace/here';
import { isOther } from '../../workspace/lines';
import { followAddress, followChoice } from './address';
import { running, show } from './asking';
import { ModelChoice, ModelState, NoModel } from './bar';
import { Chat } from './chat';
import { failed } from './failures';
import { Files } from './files';
import { History } from './history';
import { losesOnLeaving, openStorage, refused } from './keeping';
import { SamplingForm } from './sampling';
import { losesSent } from './sending';
import { target, targets } from './state';

/** The part of a model that is for no conversation, which few have. */
const OtherUse = lazy(async () => (await import('./other_use')).OtherUse);

export function WorkspacePage() {
  const listed = useSignal(false);
  const chosen = target.value;
  const task = chosen?.task ?? 'chat';
  const user = me.value?.user_id;
  useTitle(text.workspace.title);
  useEffect(() => void openStorage(leaveDeleted), [user]);
  useEffect(() => followAddress(show), []);
  useEffect(followChoice, []);
  const doubtful = doubtfulPorts(targets.value).join(' ');
  useEffect(() => {
    const look = (): void => {
      if (!document.hidden) void learnQuietly(doubtful);
    };
    look();
    // A tunnel to a device may have begun or ended meanwhile, in another tab or another window.
    document.addEventListener('visibilitychange', look);
    addEventListener('focus', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      removeEventListener('focus', look);
    };
  }, [doubtful]);
  useEffect(() => {
    // Every other page is another document: what only this one has would be gone without a word.
    const left = (event: BeforeUnloadEvent): void => {
      if (losesOnLeaving() || losesSent() || running.peek()) event.preventDefault();
    };
    addEventListener('beforeunload', left);
    return () => removeEventListener('beforeunload', left);
  }, []);
  const aside = task === 'chat' && !narrow.value;
  return (
    <div class={aside ? 'page workspace-page with-history' : 'page workspace-page'}>
      {aside && (
        <aside class="history-side" aria-label={text.conversations.title}>
          <History />
        </aside>
      )}
      <div class="workspace-main">
        <header class="workspace-head">
          <h1 class={narrow.value ? 'visually-hidden' : ''}>{text.workspace.title}</h1>
          <ModelChoice />
          {task === 'chat' && narrow.value && (
            <button type="button" class="button" onClick={() => (listed.value = true)}>
              <Icon name="chat" />
              {text.conversations.title}
            </button>
          )}
        </header>
        <ModelState />
        {refused.value !== null && (
          <p class="banner bad" role="status">
            {text.conversations.refused[refused.value]}
          </p>
        )}
        {chosen && !isOther(task) && <BeforeAsking />}
        {!chosen && <NoModel />}
        {chosen && task === 'chat' && (
          <>
            <SamplingForm />
            <Chat />
          </>
        )}
        {chosen && isOther(task) && <OtherUse key={chosen.id} task={task} target={chosen} />}
        {chosen && task !== 'chat' && !isOther(task) && <Files task={task} target={chosen} />}
      </div>
      {listed.value && (
        <Dialog title={text.conversations.title} close={() => (listed.value = false)}>
          <div class="dialog-body">
            <History chosen={() => (listed.value = false)} />
          </div>
        </Dialog>
      )}
    </div>
  );
}

/** Shows another conversation in the place of one that was deleted in another tab. */
function leaveDeleted(): void {
  show();
  notice(text.conversations.deletedElsewhere);
}

/** Explains the browser's question before the browser asks it. */
function BeforeAsking() {
  const asks = useSignal(false);
  useEffect(() => {
    if (isLoopback(location.hostname)) return;
    void permissionState().then((state) => (asks.value = state === 'prompt'));
  }, []);
  if (!asks.value || failed.value !== null) return null;
  return (
    <section class="offer" aria-labelledby="permission-title">
      <div>
        <h2 id="permission-title">{text.localNetwork.title}</h2>
        <p>{text.localNetwork.ask}</p>
      </div>
      <button type="button" class="button" onClick={() => (asks.value = false)}>
        {text.localNetwork.understood}
      </button>
    </section>
  );
}

/** Learns which device is behind each of the ports, unless the browser would ask the user for a permission. */
async function learnQuietly(ports: string): Promise<void> {
  const permission = isLoopback(location.hostname) ? 'granted' : await permissionState();
  if (permission === null || permission === 'granted') await learn(ports.split(' ').filter(Boolean).map(Number));
}
