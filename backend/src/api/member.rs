//! Members of an account, and invitations.

use std::sync::Arc;

use axum::{Json as Answer, extract::State, http::StatusCode};
use link_protocol::{
    backend_api::{
        Page, PageRequest,
        account::TokenResponse,
        member::{
            AcceptInvitation, ChangeMember, Invitation, InvitationCreated, InviteMember, Member,
            MemberRemoved, RemovalQuery,
        },
    },
    id::{InvitationId, UserId},
};

use crate::{
    api::{
        caller::{Caller, MaybeCaller, may},
        extract::{Ids, Json, Params},
        list,
        peer::{By, From},
        problem::Rejection,
        query::KnownQuery,
    },
    app::App,
};

/// Lists the members of the account.
#[utoipa::path(get, path = "/members", tag = "member",
    security(("access_token" = ["members:read"])), params(PageRequest),
    responses((status = 200, description = "The members.", body = Page<Member>)))]
pub(crate) async fn list_members(
    Caller(caller, ..): Caller<may::ReadMembers>,
    State(app): State<Arc<App>>,
    Params(request): Params<PageRequest>,
) -> Result<Answer<Page<Member>>, Rejection> {
    let wanted = list::wanted::<UserId>(&request)?;
    let members = app.members(caller, &wanted).await?;
    Ok(Answer(list::page(members, &wanted, |member| member.user_id.to_string())))
}

/// Changes a member's role. Only an owner can add or remove owners, and one owner always stays.
#[utoipa::path(patch, path = "/members/{user_id}", tag = "member",
    security(("access_token" = ["members:write"])), params(("user_id" = UserId, Path)),
    request_body = ChangeMember,
    responses((status = 200, description = "The member.", body = Member)))]
pub(crate) async fn change_member(
    Caller(caller, ..): Caller<may::WriteMembers>,
    State(app): State<Arc<App>>,
    Ids(user): Ids<UserId>,
    Json(change): Json<ChangeMember>,
) -> Result<Answer<Member>, Rejection> {
    let member = app.change_member(caller, user, change).await?;
    Ok(Answer(member))
}

/// Removes a member. Their logins in the account end at once, and their keys are revoked or taken over by the caller. A user
/// without any account is deleted.
#[utoipa::path(delete, path = "/members/{user_id}", tag = "member",
    security(("access_token" = ["members:write"])),
    params(("user_id" = UserId, Path), RemovalQuery),
    responses((status = 200, description = "The member is removed.", body = MemberRemoved)))]
pub(crate) async fn remove_member(
    Caller(caller, ..): Caller<may::WriteMembers>,
    State(app): State<Arc<App>>,
    Params(query): Params<RemovalQuery>,
    Ids(user): Ids<UserId>,
) -> Result<Answer<MemberRemoved>, Rejection> {
    let removed = app.remove_member(caller, user, query.keys).await?;
    Ok(Answer(removed))
}

/// Leaves the account and revokes the caller's keys. The last owner cannot leave.
#[utoipa::path(post, path = "/members/leave", tag = "member",
    security(("access_token" = ["login"])),
    responses((status = 200, description = "The caller has left the account.", body = MemberRemoved)))]
pub(crate) async fn leave_account(
    Caller(caller, ..): Caller<may::ActInPerson>,
    State(app): State<Arc<App>>,
) -> Result<Answer<MemberRemoved>, Rejection> {
    let left = app.leave_account(caller).await?;
    Ok(Answer(left))
}

/// Invites a member. Only this answer contains the token, which can be used once.
#[utoipa::path(post, path = "/members/invitations", tag = "member",
    security(("access_token" = ["members:write"])), request_body = InviteMember,
    responses((status = 201, description = "The invitation.", body = InvitationCreated)))]
pub(crate) async fn invite_member(
    Caller(caller, ..): Caller<may::WriteMembers>,
    State(app): State<Arc<App>>,
    Json(wish): Json<InviteMember>,
) -> Result<(StatusCode, Answer<InvitationCreated>), Rejection> {
    let invitation = app.invite(caller, wish).await?;
    Ok((StatusCode::CREATED, Answer(invitation)))
}

/// Lists the open invitations, newest first.
#[utoipa::path(get, path = "/members/invitations", tag = "member",
    security(("access_token" = ["members:read"])), params(PageRequest),
    responses((status = 200, description = "The invitations.", body = Page<Invitation>)))]
pub(crate) async fn list_invitations(
    Caller(caller, ..): Caller<may::ReadMembers>,
    State(app): State<Arc<App>>,
    Params(request): Params<PageRequest>,
) -> Result<Answer<Page<Invitation>>, Rejection> {
    let wanted = list::wanted::<InvitationId>(&request)?;
    let invitations = app.invitations(caller, &wanted).await?;
    Ok(Answer(list::page(invitations, &wanted, |one| one.invitation_id.to_string())))
}

/// Withdraws an invitation, which invalidates its token.
#[utoipa::path(delete, path = "/members/invitations/{invitation_id}", tag = "member",
    security(("access_token" = ["members:write"])),
    params(("invitation_id" = InvitationId, Path)),
    responses((status = 204, description = "The invitation is withdrawn.")))]
pub(crate) async fn withdraw_invitation(
    Caller(caller, ..): Caller<may::WriteMembers>,
    State(app): State<Arc<App>>,
    Ids(invitation): Ids<InvitationId>,
) -> Result<StatusCode, Rejection> {
    app.withdraw_invitation(caller, invitation).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Accepts an invitation. With an access token, its user joins the account. Without one, a user with the e-mail address and
/// the password is created. The answer is a login in the account.
#[utoipa::path(post, path = "/members/accept", tag = "member",
    security((), ("access_token" = [])), request_body = AcceptInvitation,
    responses((status = 201, description = "Joined, and logged in.", body = TokenResponse)))]
pub(crate) async fn accept_invitation(
    _: KnownQuery,
    MaybeCaller(caller): MaybeCaller,
    From(peer): From,
    By(program): By,
    State(app): State<Arc<App>>,
    Json(request): Json<AcceptInvitation>,
) -> Result<(StatusCode, Answer<TokenResponse>), Rejection> {
    let tokens = app.accept_invitation(peer, program, caller, request).await?;
    Ok((StatusCode::CREATED, Answer(tokens)))
}
