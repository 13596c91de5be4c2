// The API tokens of the caller for the account: created here, shown once, revoked.

import { useComputed, useSignal } from '@preact/signals';

import { revokeToken, tokens, useList } from '../../data/account';
import { me } from '../../data/store';
import type { Token } from '../../data/types';
import { text } from '../../text';
import { brief, visible } from '../../text/visible';
import { useAsked } from '../../ui/asked';
import { useAttempt } from '../../ui/busy';
import { Confirm } from '../../ui/dialog';
import { FormError } from '../../ui/form_error';
import { Icon } from '../../ui/icon';
import { notice } from '../../ui/notices';
import { Empty, Foreign, Skeleton, Time } from '../../ui/parts';
import { ListState, Records, type Column } from '../../ui/records';
import { useTitle } from '../../ui/title';
import { Until } from '../../ui/until';
import { CreateTokenDialog } from './create';
import { aboutWords, groupsOf, permitsWords } from './scopes';

import './tokens.css';

export function TokensPage() {
  useTitle(text.tokens.title);
  useList(tokens);
  const creating = useSignal(false);
  useAsked('create', () => (creating.value = true));
  const revoking = useSignal<Token | null>(null);
  const all = useComputed(() => {
    void tokens.rows.revision.value;
    return tokens.rows.all().sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
  }).value;
  const role = me.value?.role;
  return (
    <div class="page">
      <header class="page-head">
        <h1>{text.tokens.title}</h1>
        <p class="soft number" role="status">
          {all.length === 0 ? '' : text.tokens.count(all.length)}
        </p>
        <span class="spacer" />
        {role && (
          <button type="button" class="button primary" onClick={() => (creating.value = true)}>
            <Icon name="plus" />
            {text.tokens.create}
          </button>
        )}
      </header>
      <div class="page-scroll">
        <p class="hint">{text.tokens.hint}</p>
        {!role && <Skeleton lines={5} />}
        {role && (
          <ListState loading={tokens.loading.value} count={all.length} title={text.tokens.failedTitle} retry={() => void tokens.load()}>
            {all.length === 0 && (
              <Empty icon="ticket" title={text.tokens.nothingTitle}>
                <p>{text.tokens.nothingBody}</p>
                <button type="button" class="button primary" onClick={() => (creating.value = true)}>
                  {text.tokens.create}
                </button>
              </Empty>
            )}
            {all.length > 0 && (
              <Records
                label={text.tokens.table}
                columns={columnsOf((token) => (revoking.value = token))}
                items={all}
                idOf={({ token_id }) => token_id}
              />
            )}
          </ListState>
        )}
      </div>
      {creating.value && role && <CreateTokenDialog role={role} close={() => (creating.value = false)} />}
      {revoking.value && <RevokeTokenDialog token={revoking.value} close={() => (revoking.value = null)} />}
    </div>
  );
}

function columnsOf(revoke: (token: Token) => void): Column<Token>[] {
  const names = text.tokens.columns;
  return [
    {
      name: names.name,
      class: 'wide',
      cell: (token) => (
        <span class="stack">
          <Foreign>{token.name}</Foreign>
          <code class="soft small">{token.token_id}</code>
        </span>
      ),
    },
    {
      name: names.scopes,
      class: 'scope-lines',
      cell: ({ scopes }) => (
        <span class="scopes">
          {groupsOf(scopes).map(({ about, scopes: some }) => (
            <span key={about} class="granted">
              <span>{text.tokens.granted(aboutWords(about), some.map(permitsWords))}</span>
              <code class="soft small">{some.join(' ')}</code>
            </span>
          ))}
        </span>
      ),
    },
    { name: names.used, class: 'tight', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
    { name: names.expires, class: 'tight', cell: ({ expires_at }) => <Until at={expires_at} /> },
    {
      name: names.actions,
      class: 'actions',
      cell: (token) => (
        <button type="button" class="button danger" aria-label={text.tokens.revokeOf(visible(token.name))} onClick={() => revoke(token)}>
          {text.tokens.revoke}
        </button>
      ),
    },
  ];
}

function RevokeTokenDialog({ token, close }: { token: Token; close: () => void }) {
  const { busy, fault, run } = useAttempt();
  const name = brief(token.name);
  const revoke = async (): Promise<void> => {
    if (await run(() => revokeToken(token.token_id))) {
      notice(text.tokens.revoked(name));
      close();
    }
  };
  return (
    <Confirm title={text.tokens.revokeTitle} action={text.tokens.revokeAction} close={close} ready={!busy.value} act={() => void revoke()}>
      <p dir="auto">{text.tokens.revokeBody(name)}</p>
      <FormError words={fault} />
    </Confirm>
  );
}
