//! Sessions: the logins of a person, and the cookie of a browser.
//!
//! A browser holds the secret of its session in a cookie that no script can read. The answer to a login contains a second
//! secret, which the pages of the backend send in [`CSRF_HEADER`].

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    backend_api::{
        account::{LoginRequest, Me, SetupRequest},
        local_owner::RedeemCode,
        member::{AcceptInvitation, EnterAccount},
    },
    id::{AccountId, SessionId},
    secret::Secret,
};

/// The header with which a page shows that it is a page of this backend.
pub const CSRF_HEADER: &str = "x-link-csrf";

/// `POST /api/v1/session`: logs a person in with a browser.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(tag = "with", rename_all = "lowercase")]
pub enum OpenSession {
    /// With e-mail address and password.
    Password(LoginRequest),
    /// With the one-time code of `link open`.
    Code(RedeemCode),
    /// Creates the first account.
    Setup(SetupRequest),
    /// Accepts an invitation, as the person of the current session or as a new user.
    Invitation(AcceptInvitation),
    /// Changes to another account of the person of the current session.
    Account(EnterAccount),
}

/// The answer to [`OpenSession`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct SessionOpened {
    pub session_id: SessionId,
    /// The value of the header `X-Link-Csrf`. Over plain http on loopback every request needs it; over https every
    /// request that changes something needs the header.
    pub csrf: Secret,
    pub me: Me,
}

/// The program that a session belongs to.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SessionKind {
    /// A browser, with a cookie.
    Browser,
    /// A program such as `link`, with a refresh token.
    Program,
}

/// A session of the caller.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct SessionInfo {
    pub session_id: SessionId,
    /// The account of the session.
    pub account_id: AccountId,
    pub kind: SessionKind,
    /// How the session began, in the words of the audit log: `login.password`, `login.code`.
    pub login: String,
    /// The browser and its system, such as `Chromium 140 on Linux`, or the program, such as `link/1.3.0`. Empty if it did not say.
    pub agent: String,
    /// The address from which the session was used last, if known.
    pub address: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// The time of the last use: of a browser accurate to a minute, of a program to a quarter of an hour.
    #[schema(value_type = String, format = DateTime)]
    pub last_used_at: Timestamp,
    /// The time at which the session ends if it is not used again.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// Whether the request came with this session.
    pub current: bool,
}

/// `GET /api/v1/sessions`: the caller's sessions in all accounts, the one used last first.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Sessions {
    pub items: Vec<SessionInfo>,
}

/// `POST /api/v1/me/password`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangePassword {
    pub current_password: Secret,
    /// 12 to 200 characters.
    pub new_password: Secret,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_names_its_kind_and_has_no_unknown_field() {
        let read = |text: &str| serde_json::from_str::<OpenSession>(text);
        let login = read(r#"{"with":"password","email":"ada@example.org","password":"x"}"#);
        assert!(matches!(login.unwrap(), OpenSession::Password(_)));
        assert!(matches!(read(r#"{"with":"code","code":"x"}"#).unwrap(), OpenSession::Code(_)));
        for bad in [
            r#"{"email":"ada@example.org","password":"x"}"#,
            r#"{"with":"code","code":"x","more":1}"#,
            r#"{"with":"nothing"}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
