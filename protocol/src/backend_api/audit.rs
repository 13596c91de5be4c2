//! The audit log of an account: the actor, action, subject, time, network address and outcome of
//! each request.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::AuditId;

/// The kind of an actor.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    /// A user who was logged in or tried to log in.
    User,
    /// A personal access token.
    Token,
    /// A device.
    Device,
    /// The backend itself.
    System,
}

/// Whether the action was done or refused.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditOutcome {
    Done,
    Refused,
}

/// The actor of an action.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Actor {
    pub kind: ActorKind,
    /// The id of the user, the token or the device.
    pub id: Option<String>,
}

/// An entry of the audit log.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct AuditEntry {
    pub entry_id: AuditId,
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    pub actor: Actor,
    /// The action, such as `member.remove`.
    pub action: String,
    /// The id of the object of the action, such as a user or a device.
    pub subject: String,
    /// The network address that the request came from, if it is known.
    pub address: Option<String>,
    pub outcome: AuditOutcome,
    /// Details of the action, such as the new role; may be empty.
    pub detail: String,
}

/// The filter and the page of the audit log.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Items of a page: 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<String>,
    /// Only this action, such as `member.remove`, or every action of a group, such as `member`.
    pub action: Option<String>,
    /// Only actions of this user, token or device, by id.
    pub actor: Option<String>,
    /// The id of the object of the action, such as a user or a device.
    pub subject: Option<String>,
    /// Only entries at or after this time (RFC 3339).
    pub since: Option<String>,
    /// Only entries before this time (RFC 3339).
    pub until: Option<String>,
}
