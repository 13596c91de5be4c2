//! The audit log of an account: who did what, on what, when, from where, and whether it was done.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::AuditId;

/// What kind of actor did it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    /// A person who was logged in, or tried to be.
    User,
    /// A personal access token.
    Token,
    /// A device.
    Device,
    /// The backend by itself.
    System,
}

/// Whether it was done.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditOutcome {
    Done,
    Refused,
}

/// Who did it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Actor {
    pub kind: ActorKind,
    /// The id of the user, the token or the device.
    pub id: Option<String>,
}

/// One entry.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct AuditEntry {
    pub entry_id: AuditId,
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    pub actor: Actor,
    /// What was done, such as `member.remove`.
    pub action: String,
    /// The id of what it was done to.
    pub subject: String,
    /// The network address that it came from, when that is known.
    pub address: Option<String>,
    pub outcome: AuditOutcome,
    /// What else there is to know, such as the new role; may be empty.
    pub detail: String,
}

/// Which entries.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Items to answer with: 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<u32>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// An action such as `member.remove`, or what is before the dot for all of its kind.
    pub action: Option<String>,
    /// The id of a user, a token or a device that did it.
    pub actor: Option<String>,
    /// The id of what it was done to.
    pub subject: Option<String>,
    /// Not before this time (RFC 3339).
    pub since: Option<String>,
    /// Before this time (RFC 3339).
    pub until: Option<String>,
}
