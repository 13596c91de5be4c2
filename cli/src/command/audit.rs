//! `link audit`: the audit log of the account.

use link_client::backend::BackendClient;
use link_protocol::{
    backend_api::audit::{ActorKind, AuditEntry, AuditOutcome, AuditQuery},
    limits,
};

use crate::{
    args::Audit,
    backend_login,
    context::{self, Context},
    error::CliError,
    error_code::ErrorCode,
    names::Names,
    output::{Cell, View},
    resolve,
};

pub(super) async fn run(context: &Context, arguments: Audit) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    let now = context::now();
    let most = usize::try_from(arguments.limit).unwrap_or(usize::MAX);
    let actor = match arguments.actor {
        Some(named) if named.contains('@') => Some(id_of(&backend, &named).await?),
        actor => actor,
    };
    let mut query = AuditQuery {
        limit: Some(arguments.limit.min(limits::PAGE_SIZE_LIMIT)),
        cursor: None,
        action: arguments.action,
        actor,
        subject: arguments.subject,
        since: arguments.since.map(|since| since.in_the_past(now).to_string()),
        until: arguments.until.map(|until| until.in_the_past(now).to_string()),
    };
    let mut entries = Vec::new();
    loop {
        let mut page = backend.audit(&query).await?;
        entries.append(&mut page.items);
        query.cursor = page.next_cursor;
        if query.cursor.is_none() || entries.len() >= most {
            break;
        }
    }
    entries.truncate(most);
    let names =
        if context.output.is_json() { Names::default() } else { Names::of_all(&backend).await };
    context.output.data(&entries, |entries| table(entries, &names, &context.view()))
}

/// Returns the id of the member with this e-mail.
async fn id_of(backend: &BackendClient, email: &str) -> Result<String, CliError> {
    let member = resolve::member(backend, email).await.map_err(|error| {
        if error.is(ErrorCode::UnknownName) {
            error.hint("`link audit --action member.remove` has the ids of those who left")
        } else {
            error
        }
    });
    Ok(member?.user_id.to_string())
}

fn table(entries: &[AuditEntry], names: &Names, view: &View) -> String {
    if entries.is_empty() {
        return "no matching entries".to_owned();
    }
    let rows = entries.iter().map(|entry| {
        let kind = match entry.actor.kind {
            ActorKind::User => "user",
            ActorKind::Token => "token",
            ActorKind::Device => "device",
            ActorKind::System => "the backend",
        };
        let who = entry.actor.id.as_ref().map_or_else(|| kind.into(), |id| names.cell(id));
        let action = match entry.outcome {
            AuditOutcome::Done => entry.action.clone(),
            AuditOutcome::Refused => format!("{} (refused)", entry.action),
        };
        let from = entry.address.clone().unwrap_or_else(|| "-".to_owned());
        let on = names.cell(&entry.subject);
        let time = Cell::Time(entry.at);
        [time, who, action.into(), on, entry.detail.clone().into(), from.into()]
    });
    view.table(["TIME", "WHO", "ACTION", "ON", "DETAIL", "FROM"], rows)
}
