//! The audit log of an account.

use std::sync::Arc;

use axum::{Json as Answer, extract::State};
use jiff::Timestamp;
use link_protocol::{
    backend_api::{
        Page, PageRequest,
        audit::{AuditEntry, AuditQuery},
    },
    id::AuditId,
};
use serde::Deserialize;

use crate::{
    api::{
        caller::{Caller, may},
        extract::Params,
        list,
        problem::Rejection,
    },
    app::App,
    domain::{audit::AuditFilter, refusal::Refusal},
};

/// The filter of an export of the audit log.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditParams {
    /// Only this action, such as `member.remove`, or every action of a group, such as `member`.
    action: Option<String>,
    /// Only actions of this user, token or device, by id.
    actor: Option<String>,
    /// The id of the object of the action, such as a user or a device.
    subject: Option<String>,
    /// Only entries at or after this time (RFC 3339).
    since: Option<String>,
    /// Only entries before this time (RFC 3339).
    until: Option<String>,
}

/// Lists the audit entries of the account, newest first.
#[utoipa::path(get, path = "/audit", tag = "account",
    security(("access_token" = ["audit:read"])), params(AuditQuery),
    responses((status = 200, description = "The entries.", body = Page<AuditEntry>)))]
pub(crate) async fn list_audit(
    Caller(caller, ..): Caller<may::ReadAudit>,
    State(app): State<Arc<App>>,
    Params(query): Params<AuditQuery>,
) -> Result<Answer<Page<AuditEntry>>, Rejection> {
    let AuditQuery { limit, cursor, action, actor, subject, since, until } = query;
    let wanted = list::wanted::<AuditId>(&PageRequest { limit, cursor })?;
    let filter = filter(AuditParams { action, actor, subject, since, until })?;
    let entries = app.audit(caller, filter, &wanted).await?;
    Ok(Answer(list::page(entries, &wanted, |entry| entry.entry_id.to_string())))
}

/// Reads a filter.
pub(super) fn filter(params: AuditParams) -> Result<AuditFilter, Refusal> {
    Ok(AuditFilter {
        action: params.action,
        actor: params.actor,
        subject: params.subject,
        since: time("since", params.since.as_deref())?,
        until: time("until", params.until.as_deref())?,
    })
}

fn time(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Refusal> {
    let time = text.map(str::parse::<Timestamp>).transpose();
    time.map_err(|_| Refusal::invalid(format!("{name}: is a time such as 2027-01-31T00:00:00Z")))
}
