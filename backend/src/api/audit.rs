//! The audit log of an account.

use std::sync::Arc;

use axum::{Json as Answer, extract::State};
use jiff::Timestamp;
use link_protocol::backend_api::{
    Page, PageRequest,
    audit::{AuditEntry, AuditQuery},
};

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

/// Lists the audit entries of the account, newest first.
#[utoipa::path(get, path = "/audit", tag = "account",
    security(("access_token" = ["audit:read"])), params(AuditQuery),
    responses((status = 200, description = "The entries.", body = Page<AuditEntry>)))]
pub(crate) async fn list_audit(
    Caller(caller, ..): Caller<may::ReadAudit>,
    State(app): State<Arc<App>>,
    Params(query): Params<AuditQuery>,
) -> Result<Answer<Page<AuditEntry>>, Rejection> {
    let wanted = list::wanted(&PageRequest { limit: query.limit, cursor: query.cursor })?;
    let filter = AuditFilter {
        action: query.action,
        actor: query.actor,
        subject: query.subject,
        since: time("since", query.since.as_deref())?,
        until: time("until", query.until.as_deref())?,
    };
    let entries = app.audit(caller, filter, &wanted).await?;
    Ok(Answer(list::page(entries, &wanted, |entry| entry.entry_id.to_string())))
}

fn time(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Refusal> {
    let time = text.map(str::parse::<Timestamp>).transpose();
    time.map_err(|_| Refusal::invalid(format!("{name}: is a time such as 2027-01-31T00:00:00Z")))
}
