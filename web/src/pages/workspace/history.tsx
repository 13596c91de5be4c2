// The conversations of this browser: search, open, export, delete.

import { useSignal } from '@preact/signals';

import { text } from '../../text';
import { brief } from '../../text/visible';
import { Confirm } from '../../ui/dialog';
import { download } from '../../ui/download';
import { Icon } from '../../ui/icon';
import { Foreign } from '../../ui/parts';
import { asJson, asMarkdown, fileName, fresh, mentions, type Conversation } from '../../workspace/conversations';
import { show } from './asking';
import { edited, forget, forgetAll, kept, refused } from './keeping';
import { conversation } from './state';

import './history.css';

export function History({ chosen = () => undefined }: { chosen?: () => void }) {
  const words = useSignal('');
  const removing = useSignal<Conversation | 'all' | null>(null);
  const all = kept.value;
  const found = all.filter((one) => mentions(one, words.value));
  const open = (one: Conversation): void => {
    show(one);
    chosen();
  };
  const asked = removing.value;
  return (
    <div class="history">
      <button type="button" id="fresh" class="button" onClick={() => open(fresh(Date.now()))}>
        <Icon name="plus" />
        {text.conversations.fresh}
      </button>
      <div class="search">
        <Icon name="search" />
        <input
          type="search"
          aria-label={text.conversations.search}
          placeholder={text.conversations.search}
          value={words}
          onInput={(event) => (words.value = event.currentTarget.value)}
        />
      </div>
      {/* What is said of the list stands where the list would begin. */}
      <p class="soft small" role="status">
        {all.length === 0 ? text.conversations.none : found.length === 0 ? text.conversations.noMatch : ''}
      </p>
      <ul class="history-list">
        {found.map((one) => (
          <li key={one.id} class={one.id === conversation.value.id ? 'here' : ''}>
            <button type="button" class="title" aria-current={one.id === conversation.value.id} onClick={() => open(one)}>
              <Foreign>{one.title || text.conversations.untitled}</Foreign>
            </button>
            <button
              type="button"
              class="icon-button"
              aria-label={text.conversations.remove(brief(one.title, 80))}
              onClick={() => (removing.value = one)}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
      {refused.value === null ? (
        <p class="soft small">{text.conversations.here}</p>
      ) : (
        <p class="small not-kept">{text.conversations.notKept[refused.value]}</p>
      )}
      {all.length > 0 && <Exports all={all} clear={() => (removing.value = 'all')} />}
      {asked !== null && (
        <Confirm
          title={asked === 'all' ? text.conversations.clearTitle : text.conversations.removeTitle}
          action={asked === 'all' ? text.conversations.clearConfirm : text.conversations.removeConfirm}
          close={() => (removing.value = null)}
          act={() => {
            removing.value = null;
            if (asked === 'all') void forgetEverything();
            else void forgetOne(asked);
          }}
        >
          {asked !== 'all' && <Foreign>{asked.title}</Foreign>}
          <p>{asked === 'all' ? text.conversations.clearBody(all.length) : text.conversations.removeBody}</p>
        </Confirm>
      )}
    </div>
  );
}

function Exports({ all, clear }: { all: readonly Conversation[]; clear: () => void }) {
  const current = conversation.value;
  return (
    <div class="exports">
      <button type="button" class="button quiet small" onClick={() => download('conversations.json', 'application/json', asJson(all))}>
        {text.conversations.exportJson}
      </button>
      {current.turns.length > 0 && (
        <button
          type="button"
          class="button quiet small"
          onClick={() => download(fileName(current.title, 'md'), 'text/markdown', asMarkdown(current))}
        >
          {text.conversations.exportMarkdown}
        </button>
      )}
      <button type="button" class="button quiet small" onClick={clear}>
        {text.conversations.clear}
      </button>
    </div>
  );
}

async function forgetOne(one: Conversation): Promise<void> {
  if (one.id === conversation.peek().id) leave();
  await forget(one.id);
}

async function forgetEverything(): Promise<void> {
  leave();
  await forgetAll();
}

/** Shows a new conversation in the place of one that this tab deletes, with the edit that is open in it. */
function leave(): void {
  edited.clear();
  show();
}
