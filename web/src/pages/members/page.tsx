// The members of the account and its open invitations.

import { useComputed, useSignal } from '@preact/signals';

import { invitations, members, useList, withdraw } from '../../data/account';
import { allowed, ROLES } from '../../data/allowed';
import { me } from '../../data/store';
import type { Invitation, Me, Member } from '../../data/types';
import { text } from '../../text';
import { brief } from '../../text/visible';
import { useAsked } from '../../ui/asked';
import { useAttempt } from '../../ui/busy';
import { Icon } from '../../ui/icon';
import { useLost } from '../../ui/lost';
import { failure, notice } from '../../ui/notices';
import { Badge, Foreign, Skeleton, Time } from '../../ui/parts';
import { ListState, Records, type Column } from '../../ui/records';
import { useTitle } from '../../ui/title';
import { Until } from '../../ui/until';
import { InviteDialog } from './invite';
import { RemoveMemberDialog } from './remove';
import { RoleDialog } from './role';

import './members.css';

/** What is asked about a member. */
type Asked = { dialog: 'role' | 'remove'; member: Member } | { dialog: 'invite' } | null;

export function MembersPage() {
  useTitle(text.members.title);
  return <div class="page">{me.value ? <Members caller={me.value} /> : <Skeleton lines={5} />}</div>;
}

function Members({ caller }: { caller: Me }) {
  const writes = allowed(caller.role, 'members:write');
  useList(members);
  const asked = useSignal<Asked>(null);
  useAsked('invite', () => (asked.value = writes ? { dialog: 'invite' } : null));
  const all = useComputed(() => {
    void members.rows.revision.value;
    return members.rows.all().sort((a, b) => Date.parse(a.joined_at) - Date.parse(b.joined_at));
  }).value;
  const owners = all.filter(({ role }) => role === 'owner').length;
  const may = (member: Member): boolean => writes && (caller.role === 'owner' || member.role !== 'owner');
  const close = (): void => {
    asked.value = null;
  };
  // An invitation that was made is shown once.
  useLost(writes || asked.value?.dialog === 'invite', close);
  const now = asked.value;
  return (
    <>
      <header class="page-head">
        <h1>{text.members.title}</h1>
        <p class="soft number" role="status">
          {all.length === 0 ? '' : text.members.count(all.length)}
        </p>
        <span class="spacer" />
        {writes && (
          <button type="button" class="button primary" onClick={() => (asked.value = { dialog: 'invite' })}>
            <Icon name="plus" />
            {text.members.invite}
          </button>
        )}
      </header>
      <div class="page-scroll">
        <p class="hint">{text.members.hint}</p>
        <RoleMeanings />
        <ListState loading={members.loading.value} count={all.length} title={text.members.failedTitle} retry={() => void members.load()}>
          <Records
            label={text.members.table}
            columns={columnsOf(caller, writes, may, owners, (dialog, member) => (asked.value = { dialog, member }))}
            items={all}
            idOf={({ user_id }) => user_id}
          />
        </ListState>
        <Invitations writes={writes} />
      </div>
      {now?.dialog === 'invite' && <InviteDialog caller={caller} close={close} />}
      {now?.dialog === 'role' && <RoleDialog asked={now.member} caller={caller} close={close} />}
      {now?.dialog === 'remove' && <RemoveMemberDialog member={now.member} close={close} />}
    </>
  );
}

/** What each role may do, for whoever reads the list without changing it. */
function RoleMeanings() {
  return (
    <details class="role-meanings">
      <summary>{text.members.roles}</summary>
      <dl>
        {ROLES.map((role) => (
          <div key={role}>
            <dt>{text.shell.role[role]}</dt>
            <dd>{text.members.roleMeans[role]}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function columnsOf(
  caller: Me,
  writes: boolean,
  may: (member: Member) => boolean,
  owners: number,
  ask: (dialog: 'role' | 'remove', member: Member) => void,
): Column<Member>[] {
  const names = text.members.columns;
  const isMe = (member: Member): boolean => member.user_id === caller.user_id;
  const columns: Column<Member>[] = [
    {
      name: names.email,
      class: 'wide',
      cell: (member) => (
        <span class="choices">
          <Foreign>{member.email}</Foreign>
          {isMe(member) && <Badge tone="quiet">{text.members.you}</Badge>}
        </span>
      ),
    },
    { name: names.role, class: 'tight', cell: ({ role }) => text.shell.role[role] },
    { name: names.joined, class: 'tight', cell: ({ joined_at }) => <Time at={joined_at} /> },
  ];
  const actions: Column<Member> = {
    name: names.actions,
    class: 'actions',
    cell: (member) => {
      if (!may(member)) return null;
      if (member.role === 'owner' && owners <= 1) return <span class="soft small">{text.members.lastOwner}</span>;
      return (
        <>
          <button type="button" class="button" aria-label={text.members.changeOf(brief(member.email))} onClick={() => ask('role', member)}>
            {text.members.change}
          </button>
          {!isMe(member) && (
            <button type="button" class="button danger" aria-label={text.members.removeOf(brief(member.email))} onClick={() => ask('remove', member)}>
              {text.members.remove}
            </button>
          )}
        </>
      );
    },
  };
  return writes ? [...columns, actions] : columns;
}

function Invitations({ writes }: { writes: boolean }) {
  useList(invitations);
  const { busy, run } = useAttempt();
  const all = useComputed(() => (invitations.rows.revision.value, invitations.rows.all())).value;
  const take = (invitation: Invitation): void => {
    void run(async () => {
      try {
        await withdraw(invitation.invitation_id);
        notice(text.members.withdrawn);
      } catch (error) {
        failure(error);
        void invitations.load();
      }
    });
  };
  const names = text.members.invitationColumns;
  const columns: Column<Invitation>[] = [
    { name: names.email, class: 'wide', cell: ({ email }) => <Foreign>{email ?? text.members.anybody}</Foreign> },
    { name: names.role, class: 'tight', cell: ({ role }) => text.shell.role[role] },
    { name: names.expires, class: 'tight', cell: ({ expires_at }) => <Until at={expires_at} /> },
  ];
  const actions: Column<Invitation> = {
    name: names.actions,
    class: 'actions',
    cell: (invitation) => (
      <button
        type="button"
        class="button"
        aria-label={text.members.withdrawOf(brief(invitation.email ?? text.members.anybody))}
        disabled={busy.value}
        onClick={() => take(invitation)}
      >
        {text.members.withdraw}
      </button>
    ),
  };
  return (
    <section class="page-scroll" aria-labelledby="invitations-title">
      <h2 id="invitations-title">{text.members.invitations}</h2>
      <ListState
        loading={invitations.loading.value}
        count={all.length}
        title={text.members.invitationsFailed}
        retry={() => void invitations.load()}
      >
        {all.length === 0 && <p class="soft">{text.members.noInvitations}</p>}
        {all.length > 0 && (
          <Records
            label={text.members.invitations}
            columns={writes ? [...columns, actions] : columns}
            items={all}
            idOf={({ invitation_id }) => invitation_id}
          />
        )}
      </ListState>
    </section>
  );
}
