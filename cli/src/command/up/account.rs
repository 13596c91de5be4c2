//! The login of `link up`: kept, or made with the owner's proof.

use link_client::{
    backend::{self, BackendClient},
    http::Http,
};
use link_platform::session as system;
use link_protocol::{
    backend_api::local_owner::{OwnerFile, OwnerLogin},
    exit_code::ExitCode,
    problem::Code,
};

use crate::{
    command::account,
    context::Context,
    credentials::{Credentials, CredentialsFile},
    error::CliError,
    error_code::ErrorCode,
    session,
};

/// Who is logged in.
pub(super) struct Login {
    pub(super) email: String,
    /// The login was made now.
    pub(super) is_new: bool,
}

/// Logs the owner in, unless that login is kept and good.
///
/// # Errors
/// When this user is logged in to another backend, or the backend refuses.
pub(super) async fn ensure(context: &Context, owner: &OwnerFile) -> Result<Login, CliError> {
    if let Some(kept) = CredentialsFile::of(&context.roots).read()? {
        if kept.backend_url != owner.url {
            return Err(elsewhere(&kept));
        }
        match session::logged_in(context)?.me().await.map_err(CliError::from) {
            Ok(me) => return Ok(Login { email: me.email, is_new: false }),
            Err(error) if is_over(&error) => {}
            Err(error) => return Err(error),
        }
    }
    log_in(context, owner).await
}

/// Logs the owner in with the proof, and keeps the login.
///
/// # Errors
/// When the backend refuses.
pub(super) async fn log_in(context: &Context, owner: &OwnerFile) -> Result<Login, CliError> {
    let http = Http::new(&owner.url)?;
    let email = email_of(system::user_name());
    let request = OwnerLogin { proof: owner.proof.clone(), email };
    let tokens = backend::log_in_owner(&http, &request).await?;
    let me = BackendClient::new(http.clone(), tokens.clone(), None).me().await?;
    account::store(context, &http, tokens, &me)?;
    Ok(Login { email: me.email, is_new: true })
}

fn is_over(error: &CliError) -> bool {
    [Code::Unauthorized, Code::TokenExpired].iter().any(|code| code.as_str() == error.code.as_str())
}

fn elsewhere(kept: &Credentials) -> CliError {
    let message = format!("you are logged in at {}", kept.backend_url);
    CliError::new(ExitCode::Failed, ErrorCode::LoggedInElsewhere, message)
        .hint("`link up` makes a backend of your own: leave the other one with `link logout` first")
}

/// The address of an owner with the name of the system's user, where that can be one.
fn email_of(user: Option<String>) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let user = user.filter(|user| !user.is_empty() && user.chars().all(is_plain))?;
    Some(format!("{user}@localhost"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_called_like_the_user_where_that_can_be_an_address() {
        assert_eq!(email_of(Some("ann".to_owned())).as_deref(), Some("ann@localhost"));
        assert_eq!(email_of(Some("CORP\\ann".to_owned())), None);
        assert_eq!(email_of(None), None);
    }
}
