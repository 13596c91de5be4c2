//! Members of an account: invite, accept, change, remove.

use link_protocol::{
    backend_api::{
        account::TokenResponse,
        member::{
            AcceptInvitation, ChangeMember, EnterAccount, Invitation, InvitationCreated,
            InviteMember, LeftKeys, Member, MemberRemoved, Membership, Role,
        },
    },
    id::{InvitationId, KeyId, UserId},
    permission::Permission,
};

use crate::{
    app::App,
    auth::access::Identity,
    database::{Page, StoreError, write},
    domain::{
        attempts::Peer,
        audit::Action,
        key::{Heir, KeyRecord},
        member::{self, InvitationRecord},
        quota::Quota,
        refusal::Refusal,
    },
    failure::Failure,
    host::random,
    tables::{audit, keys, locks, members},
};

impl App {
    /// Lists the members of the caller's account.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn members(&self, caller: Identity, page: &Page) -> Result<Vec<Member>, Failure> {
        Ok(self.store.members(caller.account, page).await?)
    }

    /// Makes an invitation; the answer is the only place where its token is shown.
    ///
    /// # Errors
    /// [`Refusal::Forbidden`], [`Refusal::Invalid`].
    pub async fn invite(
        &self,
        caller: Identity,
        wish: InviteMember,
    ) -> Result<InvitationCreated, Failure> {
        let id = InvitationId::from_uuid(random::uuid());
        let record = InvitationRecord::create(id, caller.account, caller.role, wish, self.now())?;
        let token = random::secret("lit_");
        let digest = random::digest(token.expose());
        let most = self.config.quota.invitations;
        let entry = self.entry(&caller, Action::Invite, id).with(record.role.as_str());
        if !self.store.add_invitation(&record, &digest, most, &entry).await? {
            return Err(Quota::reached(most, "invitations that wait").into());
        }
        Ok(InvitationCreated { invitation_token: token, info: record.info() })
    }

    /// Lists the invitations that can still be accepted.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn invitations(
        &self,
        caller: Identity,
        page: &Page,
    ) -> Result<Vec<Invitation>, Failure> {
        let invitations = self.store.invitations(caller.account, page, self.now()).await?;
        Ok(invitations.iter().map(InvitationRecord::info).collect())
    }

    /// Withdraws an invitation.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn withdraw_invitation(
        &self,
        caller: Identity,
        id: InvitationId,
    ) -> Result<(), Failure> {
        let entry = self.entry(&caller, Action::WithdrawInvitation, id);
        match self.store.remove_invitation(caller.account, id, &entry).await {
            Err(StoreError::NotFound) => Err(Refusal::NotFound("invitation").into()),
            other => Ok(other?),
        }
    }

    /// Accepts an invitation as the caller, or as a user who is created for it, and begins a login
    /// in its account.
    ///
    /// # Errors
    /// [`Refusal::InvitationInvalid`], [`Refusal::AlreadyMember`], [`Refusal::Invalid`].
    pub async fn accept_invitation(
        &self,
        peer: Peer,
        caller: Option<Identity>,
        request: AcceptInvitation,
    ) -> Result<TokenResponse, Failure> {
        if let Some(caller) = caller {
            caller.check(Permission::ActInPerson)?;
        }
        let digest = random::digest(request.invitation_token.expose());
        // Whoever has no invitation makes nobody compute the hash of a password.
        let invitation = self.store.invitation(&digest).await?;
        invitation.ok_or(Refusal::InvitationInvalid)?.in_time(self.now())?;
        let new = caller.is_none();
        let user = match (caller, request.email, request.password) {
            (Some(caller), None, None) => {
                self.store.user(caller.user).await?.ok_or(Refusal::Unauthorized)?
            }
            (Some(_), _, _) => {
                let rule = "email, password: are of a new user; leave them out, or log out first";
                return Err(Refusal::invalid(rule).into());
            }
            (None, Some(email), Some(password)) => self.new_user(&email, password).await?,
            (None, _, _) => {
                let rule = "email, password: of the user to create, unless you log in first";
                return Err(Refusal::invalid(rule).into());
            }
        };
        // The store knows the account once it has found the invitation.
        let joins = self.entry_of_user(user.account, user.id, peer, Action::Join);
        match self.store.accept_invitation(&digest, &user, new, &joins).await {
            Ok(member) => {
                let entry = self.entry_of_user(member.account, user.id, peer, Action::LogIn);
                self.log_in_user(&user, member.account, entry).await
            }
            Err(Failure::Store(StoreError::Conflict)) => {
                Err(Refusal::invalid("email: a user has it; log in and accept then").into())
            }
            Err(error) => Err(error),
        }
    }

    /// Gives a member another role.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Forbidden`], [`Refusal::LastOwner`].
    pub async fn change_member(
        &self,
        caller: Identity,
        user: UserId,
        ChangeMember { role }: ChangeMember,
    ) -> Result<Member, Failure> {
        let entry = self.entry(&caller, Action::ChangeRole, user).with(role.as_str());
        let member =
            write!(self.store, [locks::account(caller.account), locks::user(user)], |db| {
                let found = members::find(db, caller.account, user).await?;
                let mut member = found.ok_or(Refusal::NotFound("member"))?;
                let owners = members::owners(db, caller.account).await?;
                member::check_change(caller.role, member.role, Some(role), owners)?;
                member.role = role;
                members::set_role(db, &member).await?;
                audit::insert(db, &entry).await?;
                member
            });
        let user = self.store.user(user).await?.ok_or(Refusal::NotFound("member"))?;
        Ok(member.info(&user.email))
    }

    /// Removes a member; their logins and tokens for the account end at once, and the keys that they
    /// answer for are revoked or come to the caller.
    ///
    /// # Errors
    /// As for [`App::change_member`]; [`Refusal::Invalid`] when the caller would inherit from
    /// themselves.
    pub async fn remove_member(
        &self,
        caller: Identity,
        user: UserId,
        keys: LeftKeys,
    ) -> Result<MemberRemoved, Failure> {
        let own = caller.user == user;
        let heir = match keys {
            LeftKeys::Revoke => Heir::Nobody,
            LeftKeys::TakeOver if own => {
                let rule = "keys: who leaves takes none over; another member removes you and does";
                return Err(Refusal::invalid(rule).into());
            }
            LeftKeys::TakeOver => Heir::Member(caller.user),
        };
        // Who leaves needs nobody's leave.
        let actor = if own { Role::Owner } else { caller.role };
        let entry = self.entry(&caller, Action::RemoveMember, user);
        let why = format!("{user} {}", if own { "left" } else { "was removed" });
        let action = match heir {
            Heir::Nobody => Action::RevokeKey,
            Heir::Member(_) => Action::TakeOverKey,
        };
        let of_key = |key: KeyId| self.entry(&caller, action, key).with(&why);
        let left = write!(self.store, [locks::account(caller.account), locks::user(user)], |db| {
            let found = members::find(db, caller.account, user).await?;
            let member = found.ok_or(Refusal::NotFound("member"))?;
            let owners = members::owners(db, caller.account).await?;
            member::check_change(actor, member.role, None, owners)?;
            let left = keys::leave(db, caller.account, user, heir).await?;
            members::remove(db, caller.account, user).await?;
            audit::insert(db, &entry).await?;
            for key in &left {
                audit::insert(db, &of_key(key.id)).await?;
            }
            left
        });
        let left = left.iter().map(KeyRecord::info).collect();
        Ok(match heir {
            Heir::Nobody => MemberRemoved { user_id: user, revoked: left, taken_over: vec![] },
            Heir::Member(_) => MemberRemoved { user_id: user, revoked: vec![], taken_over: left },
        })
    }

    /// Removes the caller from the account, and revokes the keys that they answer for.
    ///
    /// # Errors
    /// [`Refusal::LastOwner`].
    pub async fn leave_account(&self, caller: Identity) -> Result<MemberRemoved, Failure> {
        self.remove_member(caller, caller.user, LeftKeys::Revoke).await
    }

    /// Lists the accounts of the caller.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn accounts(&self, caller: Identity) -> Result<Vec<Membership>, Failure> {
        let memberships = self.store.memberships(caller.user).await?;
        let mut described = Vec::with_capacity(memberships.len());
        for member in memberships {
            described.push(Membership {
                account_id: member.account,
                account_name: Some(self.store.account_name(member.account).await?),
                role: member.role,
                joined_at: member.joined_at,
                current: member.account == caller.account,
            });
        }
        Ok(described)
    }

    /// Begins a login of the caller in another of their accounts.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn enter_account(
        &self,
        caller: Identity,
        EnterAccount { account_id }: EnterAccount,
    ) -> Result<TokenResponse, Failure> {
        let memberships = self.store.memberships(caller.user).await?;
        if !memberships.iter().any(|member| member.account == account_id) {
            return Err(Refusal::NotFound("account").into());
        }
        let user = self.store.user(caller.user).await?.ok_or(Refusal::Unauthorized)?;
        let action = Action::LogInElsewhere;
        let entry = self.entry_of_user(account_id, user.id, caller.peer, action);
        self.log_in_user(&user, account_id, entry).await
    }
}
