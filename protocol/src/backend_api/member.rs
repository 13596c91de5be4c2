//! The members of an account, their roles, and invitations.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    account_name::AccountName,
    backend_api::key::KeyInfo,
    id::{AccountId, InvitationId, UserId},
    secret::Secret,
};

/// The role of a member, from the most permissions to the fewest.
#[derive(
    Clone,
    Copy,
    Debug,
    Deserialize,
    Eq,
    Hash,
    Ord,
    PartialEq,
    PartialOrd,
    Serialize,
    utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Everything. An account has at least one owner.
    Owner,
    /// Everything except changes to owners.
    Admin,
    /// Deploys, serves and repairs models, updates and tags devices, and sees all that an operator
    /// works with.
    Operator,
    /// Sees devices, models and deployments.
    Viewer,
}

impl Role {
    /// Every role, in descending order of permissions.
    pub const ALL: [Self; 4] = [Self::Owner, Self::Admin, Self::Operator, Self::Viewer];

    /// Returns the role's name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Admin => "admin",
            Self::Operator => "operator",
            Self::Viewer => "viewer",
        }
    }
}

/// A member of the account.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Member {
    pub user_id: UserId,
    pub email: String,
    pub role: Role,
    #[schema(value_type = String, format = DateTime)]
    pub joined_at: Timestamp,
}

/// `PATCH /members/{user_id}`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeMember {
    pub role: Role,
}

/// The parameters of `DELETE /members/{user_id}`.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::IntoParams,
)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct RemovalQuery {
    /// What to do with the registration and fleet keys for which the member is responsible.
    /// Default: revoke them.
    #[serde(default)]
    #[param(inline)]
    pub keys: LeftKeys,
}

/// What to do with the keys of a departing member.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeftKeys {
    /// Revokes the keys. No device can register with them afterwards.
    #[default]
    Revoke,
    /// Keeps the keys valid. The caller who removes the member becomes responsible for them.
    TakeOver,
}

impl LeftKeys {
    /// Returns the value for a query.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Revoke => "revoke",
            Self::TakeOver => "take_over",
        }
    }
}

/// The answer to the removal or the leaving of a member: the keys that were revoked, and the keys
/// that the caller took over.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct MemberRemoved {
    pub user_id: UserId,
    pub revoked: Vec<KeyInfo>,
    pub taken_over: Vec<KeyInfo>,
}

/// `POST /members/invitations`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InviteMember {
    pub role: Role,
    /// Only a user with this e-mail address may accept. Absent: anyone with the token.
    #[serde(default)]
    pub email: Option<String>,
    /// At most 30 days ahead. Absent: in seven days.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
}

/// The answer to [`InviteMember`]: the only time that the token is shown.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct InvitationCreated {
    pub invitation_token: Secret,
    pub info: Invitation,
}

/// An invitation that nobody has accepted yet.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Invitation {
    pub invitation_id: InvitationId,
    pub role: Role,
    pub email: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

/// `POST /members/accept`: with an access token, the caller joins the account. Without a token, a
/// user is created.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptInvitation {
    pub invitation_token: Secret,
    /// The e-mail address of the user to create.
    #[serde(default)]
    pub email: Option<String>,
    /// The password of the user to create: 12 to 200 characters.
    #[serde(default)]
    pub password: Option<Secret>,
}

/// An account that the caller belongs to.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Membership {
    pub account_id: AccountId,
    #[serde(default)]
    pub account_name: Option<AccountName>,
    pub role: Role,
    #[schema(value_type = String, format = DateTime)]
    pub joined_at: Timestamp,
    /// Whether the access token is for this account.
    pub current: bool,
}

/// `POST /auth/account`: logs the caller in to another of their accounts.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EnterAccount {
    pub account_id: AccountId,
}
