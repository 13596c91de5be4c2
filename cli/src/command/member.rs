//! `link member`: the members of the account and its invitations.

use link_client::{
    backend::{self, BackendClient},
    http::Http,
};
use link_protocol::{
    backend_api::{
        key::KeyInfo,
        member::{
            AcceptInvitation, Invitation, InviteMember, LeftKeys, Member, MemberRemoved, Role,
        },
    },
    id::{InvitationId, UserId},
    key::KeyKind,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    args::{Accept, LeftKeysArg, MemberCommand, RoleArg},
    backend_login,
    command::account,
    context::{self, Context},
    credentials::CredentialsFile,
    document::Component,
    error::CliError,
    output::{Cell, View},
    prompt, resolve, secret_input,
};

/// The members of the account and its open invitations.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Members<'a> {
    #[schemars(with = "Vec<Component<Member>>")]
    members: &'a [Member],
    #[schemars(with = "Vec<Component<Invitation>>")]
    invitations: &'a [Invitation],
}

/// The invitation that was withdrawn.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Withdrawn {
    #[schemars(with = "Component<InvitationId>")]
    withdrawn: InvitationId,
}

/// The user who is no member any more, and what happened to the keys that the user created.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct RemovedMember {
    #[schemars(with = "Component<UserId>")]
    removed: UserId,
    /// The keys that were revoked.
    #[schemars(with = "Vec<Component<KeyInfo>>")]
    revoked: Vec<KeyInfo>,
    /// The keys that stay valid, for which another member is responsible now.
    #[schemars(with = "Vec<Component<KeyInfo>>")]
    taken_over: Vec<KeyInfo>,
}

pub(super) async fn run(context: &Context, command: MemberCommand) -> Result<(), CliError> {
    match command {
        MemberCommand::List => list(context).await,
        MemberCommand::Invite { role, email, expires_at } => {
            let backend = backend_login::logged_in(context)?;
            let expires_at = expires_at.map(|end| end.in_the_future(context::now()));
            let wish = InviteMember { role: role.into(), email, expires_at };
            let created = backend.invite(&wish).await?;
            let until = created.info.expires_at;
            context.output.say(&format!(
                "invitation for one person, expires {until}; copy it now, it is not shown again"
            ));
            context.output.data(&created, |created| created.invitation_token.expose().to_owned())
        }
        MemberCommand::Accept(arguments) => accept(context, arguments).await,
        MemberCommand::Role { member, role } => {
            let backend = backend_login::logged_in(context)?;
            let member = resolve::member(&backend, &member).await?;
            let changed = backend.change_member(member.user_id, role.into()).await?;
            let Member { email, role, .. } = &changed;
            context.output.say(&format!("{email} now has the role {}", role.as_str()));
            context.output.data(&changed, |_| String::new())
        }
        MemberCommand::Remove { member, keys, yes } => remove(context, &member, keys, yes).await,
    }
}

async fn list(context: &Context) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    let (members, invitations) = (backend.members().await?, backend.invitations().await?);
    let document = Members { members: &members, invitations: &invitations };
    context.output.data(&document, |_| table(&members, &invitations, &context.view()))
}

async fn accept(context: &Context, arguments: Accept) -> Result<(), CliError> {
    let invitation_token = match &arguments.token_file {
        Some(file) => secret_input::line_of(file, "invitation token")?,
        None => prompt::ask_secret("Invitation token", "--token-file")?,
    };
    let (http, tokens) = if let Some(email) = arguments.email {
        let password = if arguments.password_stdin {
            secret_input::stdin_line("password")?
        } else {
            prompt::ask_new_password()?
        };
        let http =
            Http::new(&backend_login::backend_url(context, arguments.backend.url.as_deref())?)?;
        let request =
            AcceptInvitation { invitation_token, email: Some(email), password: Some(password) };
        let tokens = backend::join(&http, &request).await?;
        (http, tokens)
    } else {
        let is_logged_in = CredentialsFile::of(&context.roots).read()?.is_some();
        if !is_logged_in {
            return Err(CliError::usage("nobody is logged in")
                .hint("give your e-mail with --email to create a user, or log in first"));
        }
        let backend = backend_login::logged_in(context)?;
        let request = AcceptInvitation { invitation_token, email: None, password: None };
        let tokens = backend.accept_invitation(&request).await?;
        (backend.http().clone(), tokens)
    };
    let me = account::keep(context, &http, tokens, "joined and logged in").await?;
    if context.output.is_json() { account::show(context, &me, http.base()) } else { Ok(()) }
}

async fn remove(
    context: &Context,
    named: &str,
    keys: Option<LeftKeysArg>,
    yes: bool,
) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    if let Ok(invitation) = named.parse::<InvitationId>() {
        backend.withdraw_invitation(invitation).await?;
        context.output.say(&format!("withdrew {invitation}"));
        return context.output.data(&Withdrawn { withdrawn: invitation }, |_| String::new());
    }
    let member = resolve::member(&backend, named).await?;
    let me = backend.me().await?;
    let keys = keys.map(LeftKeys::from);
    let removed = if me.user_id == member.user_id {
        leave(context, &backend, keys, yes).await?
    } else {
        dismiss(context, &backend, &member, keys, yes).await?
    };
    let Some(MemberRemoved { user_id, revoked, taken_over }) = removed else {
        context.output.say("nothing was changed");
        return Ok(());
    };
    for (done, keys) in [("revoked", &revoked), ("took over", &taken_over)] {
        for key in keys {
            context.output.say(&format!("{done} {}", named_key(key)));
        }
    }
    let document = RemovedMember { removed: user_id, revoked, taken_over };
    context.output.data(&document, |_| String::new())
}

async fn leave(
    context: &Context,
    backend: &BackendClient,
    keys: Option<LeftKeys>,
    yes: bool,
) -> Result<Option<MemberRemoved>, CliError> {
    if keys == Some(LeftKeys::TakeOver) {
        return Err(CliError::usage("a member who leaves cannot take keys over")
            .hint("ask another member to run `link member remove` with --keys take-over"));
    }
    let question =
        "Leave the account? Your keys are revoked, and you need an invitation to come back";
    if !yes && !prompt::confirm(question)? {
        return Ok(None);
    }
    let left = backend.leave_account().await?;
    CredentialsFile::of(&context.roots).remove()?;
    context.output.say("left the account; this login has ended");
    Ok(Some(left))
}

/// Removes another member. If `keys` is not given, asks what happens to the member's keys, or
/// revokes them if `yes` is set.
async fn dismiss(
    context: &Context,
    backend: &BackendClient,
    member: &Member,
    keys: Option<LeftKeys>,
    yes: bool,
) -> Result<Option<MemberRemoved>, CliError> {
    let question = format!("Remove {} from the account?", member.email);
    if !yes && !prompt::confirm(&question)? {
        return Ok(None);
    }
    let keys = match keys {
        Some(keys) => keys,
        None if yes => LeftKeys::Revoke,
        None => ask_for_keys(context, backend, member).await?,
    };
    let removed = backend.remove_member(member.user_id, keys).await?;
    context.output.say(&format!("removed {}", member.email));
    Ok(Some(removed))
}

async fn ask_for_keys(
    context: &Context,
    backend: &BackendClient,
    member: &Member,
) -> Result<LeftKeys, CliError> {
    let keys = backend.keys_of(member.user_id).await?;
    let good: Vec<_> = keys.iter().filter(|key| !key.revoked).collect();
    if good.is_empty() {
        return Ok(LeftKeys::Revoke);
    }
    context.output.say(&format!("{} created keys that register devices:", member.email));
    for key in good {
        context.output.say(&format!("  {}", named_key(key)));
    }
    let takes_over = prompt::confirm("Take these keys over? Otherwise they are revoked")?;
    Ok(if takes_over { LeftKeys::TakeOver } else { LeftKeys::Revoke })
}

fn named_key(key: &KeyInfo) -> String {
    let kind = match key.kind {
        KeyKind::Registration => "registration",
        KeyKind::Fleet => "fleet",
    };
    let name = if key.name.is_empty() { String::new() } else { format!(" `{}`", key.name) };
    format!("the {kind} key{name} ({})", key.key_id)
}

fn table(members: &[Member], invitations: &[Invitation], view: &View) -> String {
    let rows = members.iter().map(|member| {
        let Member { user_id, email, role, joined_at } = member;
        let role = role.as_str().into();
        [email.clone().into(), role, Cell::Time(*joined_at), Cell::id(user_id)]
    });
    let mut text = view.table(["E-MAIL", "ROLE", "SINCE", "ID"], rows);
    if !invitations.is_empty() {
        let rows = invitations.iter().map(|invitation| {
            let email = invitation.email.clone().unwrap_or_else(|| "anybody".to_owned());
            let Invitation { invitation_id, role, expires_at, .. } = invitation;
            let role = role.as_str().into();
            [email.into(), role, Cell::Time(*expires_at), Cell::id(invitation_id)]
        });
        text.push_str("\n\n");
        text.push_str(&view.table(["INVITED", "ROLE", "UNTIL", "ID"], rows));
    }
    text
}

impl From<LeftKeysArg> for LeftKeys {
    fn from(keys: LeftKeysArg) -> Self {
        match keys {
            LeftKeysArg::Revoke => Self::Revoke,
            LeftKeysArg::TakeOver => Self::TakeOver,
        }
    }
}

impl From<RoleArg> for Role {
    fn from(role: RoleArg) -> Self {
        match role {
            RoleArg::Owner => Self::Owner,
            RoleArg::Admin => Self::Admin,
            RoleArg::Operator => Self::Operator,
            RoleArg::Viewer => Self::Viewer,
        }
    }
}
