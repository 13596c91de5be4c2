//! Members of an account: invite, accept, change and remove.

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
    secret::Secret,
};

use crate::{
    app::{App, warrants::warrant_of},
    auth::{
        access::{Identity, Means},
        passwords::Queue,
    },
    database::{Page, Store, StoreError, lock, write},
    domain::{
        account::{Email, UserRecord},
        attempts::Peer,
        audit::{Action, AuditRecord},
        key::{Heir, KeyRecord},
        member::{self, InvitationRecord, MemberRecord},
        refusal::Refusal,
        session::Program,
    },
    failure::AppError,
    host::random,
    tables::{accounts, audit, invitations, keys, locks, members},
};

impl App {
    /// Lists the members of the caller's account.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn members(&self, caller: Identity, page: &Page) -> Result<Vec<Member>, AppError> {
        Ok(self.store.members(caller.account, page).await?)
    }

    /// Creates an invitation. Its token is shown only in this answer.
    ///
    /// # Errors
    /// [`Refusal::Forbidden`], [`Refusal::Invalid`].
    pub async fn invite(
        &self,
        caller: Identity,
        wish: InviteMember,
    ) -> Result<InvitationCreated, AppError> {
        let id = InvitationId::from_uuid(random::uuid());
        let record = InvitationRecord::create(id, caller.account, caller.role, wish, self.now())?;
        let token = random::secret("lit_");
        let digest = random::digest(token.expose());
        let quota = &self.config.quota;
        let invited = match &record.email {
            Some(email) => format!("{}, for {}", record.role.as_str(), email.as_str()),
            None => record.role.as_str().to_owned(),
        };
        let entry = self.entry(&caller, Action::Invite, id).with(&invited);
        write!(self.store, [locks::account(record.account)], |db| {
            let waiting = invitations::count_waiting(db, record.account, record.created_at);
            quota.check_invitations(waiting.await?)?;
            invitations::insert(db, &record, &digest).await?;
            audit::insert(db, &entry).await?;
        });
        Ok(InvitationCreated { invitation_token: token, info: record.info() })
    }

    /// Lists the invitations that can still be accepted.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn invitations(
        &self,
        caller: Identity,
        page: &Page,
    ) -> Result<Vec<Invitation>, AppError> {
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
    ) -> Result<(), AppError> {
        let entry = self.entry(&caller, Action::WithdrawInvitation, id);
        match self.store.remove_invitation(caller.account, id, &entry).await {
            Err(StoreError::NotFound) => Err(Refusal::NotFound("invitation").into()),
            other => Ok(other?),
        }
    }

    /// Accepts an invitation as the caller or as a new user, and starts a login in the account of the invitation.
    ///
    /// # Errors
    /// [`Refusal::InvitationInvalid`], [`Refusal::AlreadyMember`], [`Refusal::Invalid`].
    pub async fn accept_invitation(
        &self,
        peer: Peer,
        program: Program,
        caller: Option<Identity>,
        request: AcceptInvitation,
    ) -> Result<TokenResponse, AppError> {
        let warrant = warrant_of(caller.as_ref());
        refuse_browser(caller.as_ref())?;
        let (user, entry) = self.join_account(peer, caller, request).await?;
        self.log_in_user(&user, entry.account, &warrant, program, entry).await
    }

    /// Makes the caller or a new user a member by an invitation. Returns the user, with the entry of the login in that
    /// account.
    pub(super) async fn join_account(
        &self,
        peer: Peer,
        caller: Option<Identity>,
        request: AcceptInvitation,
    ) -> Result<(UserRecord, AuditRecord), AppError> {
        if let Some(caller) = caller {
            caller.check(Permission::ActInPerson)?;
        }
        let digest = random::digest(request.invitation_token.expose());
        // Check the invitation first, so that no password is hashed without one.
        let invitation = self.store.invitation(&digest).await?;
        let invitation = invitation.ok_or(Refusal::InvitationInvalid)?;
        invitation.in_time(self.now())?;
        let new = caller.is_none();
        let user = match (caller, request.email, request.password) {
            (Some(caller), None, None) => {
                self.store.user(caller.user).await?.ok_or(Refusal::Unauthorized)?
            }
            (Some(_), _, _) => {
                let rule = "email, password: are of a new user; leave them out, or log out first";
                return Err(Refusal::invalid(rule).into());
            }
            (None, Some(email), Some(password)) => {
                self.invited_user(peer, &invitation, &email, password).await?
            }
            (None, _, _) => {
                let rule = "email, password: of the user to create, unless you log in first";
                return Err(Refusal::invalid(rule).into());
            }
        };
        // The account is known after the invitation was found.
        let joins = self.entry_of_user(user.account, user.id, peer, Action::Join);
        match join(&self.store, &digest, &user, new, &joins).await {
            Ok(member) => {
                let entry = self.entry_of_user(member.account, user.id, peer, Action::LogIn);
                Ok((user, entry))
            }
            Err(AppError::Store(StoreError::Conflict)) => Err(email_taken().into()),
            Err(error) => Err(error),
        }
    }

    /// Creates the user who accepts an invitation. A password is hashed only if the address can accept the invitation, in the
    /// queue for strangers. Attempts are limited as for a login, because a refused attempt leaves the invitation open.
    async fn invited_user(
        &self,
        peer: Peer,
        invitation: &InvitationRecord,
        email: &str,
        password: Secret,
    ) -> Result<UserRecord, AppError> {
        let address = Email::parse(email)?;
        self.count_stranger(peer, &invitation.id.to_string())?;
        invitation.check(&address, self.now())?;
        if self.store.user_by_email(&address).await?.is_some() {
            return Err(email_taken().into());
        }
        self.new_user(email, password, Queue::Strangers).await
    }

    /// Changes the role of a member.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Forbidden`], [`Refusal::LastOwner`].
    pub async fn change_member(
        &self,
        caller: Identity,
        user: UserId,
        ChangeMember { role }: ChangeMember,
    ) -> Result<Member, AppError> {
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

    /// Removes a member. The member's logins and tokens for the account end at once. The member's keys are revoked, or
    /// the caller becomes responsible for them.
    ///
    /// # Errors
    /// As for [`App::change_member`]; [`Refusal::Invalid`] if a caller who leaves asks to take over keys.
    pub async fn remove_member(
        &self,
        caller: Identity,
        user: UserId,
        keys: LeftKeys,
    ) -> Result<MemberRemoved, AppError> {
        let own = caller.user == user;
        let heir = match keys {
            LeftKeys::Revoke => Heir::Nobody,
            LeftKeys::TakeOver if own => {
                let rule = "keys: who leaves takes none over; another member removes you and does";
                return Err(Refusal::invalid(rule).into());
            }
            LeftKeys::TakeOver => Heir::Member(caller.user),
        };
        // A member may leave without any permission.
        let actor = if own { Role::Owner } else { caller.role };
        let gone = self.store.user(user).await?.ok_or(Refusal::NotFound("member"))?;
        let entry = self.entry(&caller, Action::RemoveMember, user).with(gone.email.as_str());
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

    /// Removes the caller from the account, and revokes the caller's keys.
    ///
    /// # Errors
    /// [`Refusal::LastOwner`].
    pub async fn leave_account(&self, caller: Identity) -> Result<MemberRemoved, AppError> {
        self.remove_member(caller, caller.user, LeftKeys::Revoke).await
    }

    /// Lists the accounts of the caller.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn accounts(&self, caller: Identity) -> Result<Vec<Membership>, AppError> {
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

    /// Starts a login of the caller in another account of the caller.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn enter_account(
        &self,
        caller: Identity,
        program: Program,
        request: EnterAccount,
    ) -> Result<TokenResponse, AppError> {
        refuse_browser(Some(&caller))?;
        let (user, entry) = self.change_account(caller, request).await?;
        let warrant = warrant_of(Some(&caller));
        self.log_in_user(&user, entry.account, &warrant, program, entry).await
    }

    /// Returns the caller, with the entry of the login in another account of the caller.
    pub(super) async fn change_account(
        &self,
        caller: Identity,
        EnterAccount { account_id }: EnterAccount,
    ) -> Result<(UserRecord, AuditRecord), AppError> {
        let memberships = self.store.memberships(caller.user).await?;
        if !memberships.iter().any(|member| member.account == account_id) {
            return Err(Refusal::NotFound("account").into());
        }
        let user = self.store.user(caller.user).await?.ok_or(Refusal::Unauthorized)?;
        let action = Action::LogInElsewhere;
        let entry = self.entry_of_user(account_id, user.id, caller.peer, action);
        Ok((user, entry))
    }
}

fn email_taken() -> Refusal {
    Refusal::invalid("email: already belongs to a user; log in first, then accept the invitation")
}

/// Refuses to give a browser the tokens of a program, which last longer than its session and which a script could read.
fn refuse_browser(caller: Option<&Identity>) -> Result<(), Refusal> {
    match caller.map(|caller| caller.means) {
        Some(Means::Cookie(_)) => Err(Refusal::Forbidden(
            "a browser gets no tokens: open a session with `POST /api/v1/session`".to_owned(),
        )),
        Some(Means::Login(_) | Means::Token(_) | Means::Operation(_)) | None => Ok(()),
    }
}

/// Consumes the invitation with `digest`: `user` becomes a member of its account. A `new` user is created first.
async fn join(
    store: &Store,
    digest: &[u8; 32],
    user: &UserRecord,
    new: bool,
    entry: &AuditRecord,
) -> Result<MemberRecord, AppError> {
    let now = entry.at;
    let joined = write!(store, [], |db| {
        if let Some(found) = invitations::find(db, digest).await? {
            lock::take(db, &[locks::account(found.account), locks::user(user.id)]).await?;
        }
        let invitation = invitations::find(db, digest).await?;
        let invitation = invitation.ok_or(Refusal::InvitationInvalid)?;
        let is_member = members::find(db, invitation.account, user.id).await?.is_some();
        let member = invitation.accept(user, is_member, now)?;
        if !invitations::delete(db, invitation.id).await? {
            return Err(Refusal::InvitationInvalid.into());
        }
        if new {
            let user = UserRecord { account: invitation.account, ..user.clone() };
            accounts::insert_user(db, &user, now).await?;
        }
        members::insert(db, &member).await?;
        let entry = AuditRecord { account: member.account, ..entry.clone() };
        let joined = format!("{}, {}", member.role.as_str(), user.email.as_str());
        audit::insert(db, &entry.with(&joined)).await?;
        member
    });
    Ok(joined)
}
