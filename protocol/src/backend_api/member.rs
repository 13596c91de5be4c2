//! The members of an account: their roles, and how one is invited.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    account_name::AccountName,
    backend_api::key::KeyInfo,
    id::{AccountId, InvitationId, UserId},
    secret::Secret,
};

/// What a member may do, the most first.
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
    /// Everything; an account has at least one.
    Owner,
    /// Everything but what concerns owners.
    Admin,
    /// Deploys, serves, repairs, updates and tags; sees all that works there.
    Operator,
    /// Sees devices, models and deployments.
    Viewer,
}

impl Role {
    /// Every role, the one that may do most first.
    pub const ALL: [Self; 4] = [Self::Owner, Self::Admin, Self::Operator, Self::Viewer];

    /// Returns the name as it stands on the wire.
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

/// `DELETE /members/{user_id}`.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::IntoParams,
)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct RemovalQuery {
    /// What becomes of the registration and fleet keys that the member answers for; without it they
    /// are revoked.
    #[serde(default)]
    #[param(inline)]
    pub keys: LeftKeys,
}

/// What becomes of the keys of a member who goes.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeftKeys {
    /// Nobody registers a device with them afterwards.
    #[default]
    Revoke,
    /// They stay good, and whoever removes the member answers for them.
    TakeOver,
}

impl LeftKeys {
    /// Returns the word as it stands in a query.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Revoke => "revoke",
            Self::TakeOver => "take_over",
        }
    }
}

/// The answer to a removal, and to leaving: which keys ended with the member, and which go on.
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
    /// Only a user of this address may accept; absent: whoever has the token.
    #[serde(default)]
    pub email: Option<String>,
    /// Absent: in seven days; at most 30 days ahead.
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

/// `POST /members/accept`: with an access token the caller joins; without one a user is created.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptInvitation {
    pub invitation_token: Secret,
    /// Of the user to create.
    #[serde(default)]
    pub email: Option<String>,
    /// Of the user to create: 12 to 200 characters.
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
    /// Whether the access token stands in this account.
    pub current: bool,
}

/// `POST /auth/account`: a login of the caller in another of their accounts.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EnterAccount {
    pub account_id: AccountId,
}
