//! Members of the account, invitations, and the user's other accounts.

use link_protocol::{
    agent_api::PREFIX,
    backend_api::{
        account::TokenResponse,
        member::{
            AcceptInvitation, ChangeMember, EnterAccount, Invitation, InvitationCreated,
            InviteMember, LeftKeys, Member, MemberRemoved, Membership, Role,
        },
    },
    id::{AccountId, InvitationId, UserId},
};

use crate::{
    backend::{BackendClient, CallError, Tokens},
    http::{Call, Failure, Http},
};

/// Accepts an invitation as a new user.
///
/// # Errors
/// [`Failure`], for example if the invitation is already used.
pub async fn join(http: &Http, request: &AcceptInvitation) -> Result<Tokens, Failure> {
    let call = Call::post(format!("{PREFIX}/members/accept")).json(request);
    http.call::<TokenResponse>(call).await.map(Tokens::from)
}

impl BackendClient {
    /// Returns every member of the account.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn members(&self) -> Result<Vec<Member>, CallError> {
        self.all(&format!("{PREFIX}/members")).await
    }

    /// Returns every open invitation.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn invitations(&self) -> Result<Vec<Invitation>, CallError> {
        self.all(&format!("{PREFIX}/members/invitations")).await
    }

    /// Invites a member. Only this answer contains the token.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn invite(&self, request: &InviteMember) -> Result<InvitationCreated, CallError> {
        self.call(|| Call::post(format!("{PREFIX}/members/invitations")).json(request)).await
    }

    /// Withdraws an invitation.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn withdraw_invitation(&self, id: InvitationId) -> Result<(), CallError> {
        self.call_for_status(|| Call::delete(format!("{PREFIX}/members/invitations/{id}"))).await
    }

    /// Accepts an invitation as the logged-in user. The returned tokens are a login in that
    /// account.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn accept_invitation(&self, request: &AcceptInvitation) -> Result<Tokens, CallError> {
        let call = || Call::post(format!("{PREFIX}/members/accept")).json(request);
        self.call::<TokenResponse>(call).await.map(Tokens::from)
    }

    /// Changes the role of a member.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn change_member(&self, user: UserId, role: Role) -> Result<Member, CallError> {
        let body = ChangeMember { role };
        self.call(|| Call::patch(format!("{PREFIX}/members/{user}")).json(&body)).await
    }

    /// Removes a member. `keys` determines whether the member's keys are revoked or taken over.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn remove_member(
        &self,
        user: UserId,
        keys: LeftKeys,
    ) -> Result<MemberRemoved, CallError> {
        let path = format!("{PREFIX}/members/{user}?keys={}", keys.as_str());
        self.call(|| Call::delete(&path)).await
    }

    /// Leaves the account. The keys for which the user is responsible are revoked.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn leave_account(&self) -> Result<MemberRemoved, CallError> {
        self.call(|| Call::post(format!("{PREFIX}/members/leave"))).await
    }

    /// Returns the accounts of the logged-in user.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn accounts(&self) -> Result<Vec<Membership>, CallError> {
        self.call(|| Call::get(format!("{PREFIX}/accounts"))).await
    }

    /// Logs the same user in to another account.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn enter_account(&self, account_id: AccountId) -> Result<Tokens, CallError> {
        let body = EnterAccount { account_id };
        let call = || Call::post(format!("{PREFIX}/auth/account")).json(&body);
        self.call::<TokenResponse>(call).await.map(Tokens::from)
    }
}
