//! The login of `link up`: a stored one, or a new one by the owner's proof.

use link_protocol::{backend_api::local_owner::OwnerFile, exit_code::ExitCode, problem::Code};

use crate::{
    backend_login,
    context::Context,
    credentials::{Credentials, CredentialsFile},
    error::CliError,
    error_code::ErrorCode,
    owner_login,
};

/// The logged-in user.
pub(super) struct Login {
    pub(super) email: String,
    /// The login is new.
    pub(super) is_new: bool,
}

/// Logs in the owner, unless a stored login is valid.
///
/// # Errors
/// If this user is logged in to another backend, or the backend refuses.
pub(super) async fn ensure(context: &Context, owner: &OwnerFile) -> Result<Login, CliError> {
    if let Some(kept) = CredentialsFile::of(&context.roots).read()? {
        if kept.backend_url != owner.url {
            return Err(elsewhere(&kept));
        }
        match backend_login::logged_in(context)?.me().await.map_err(CliError::from) {
            Ok(me) => return Ok(Login { email: me.email, is_new: false }),
            Err(error) if is_over(&error) => {}
            Err(error) => return Err(error),
        }
    }
    let email = owner_login::log_in(context, owner).await?;
    Ok(Login { email, is_new: true })
}

fn is_over(error: &CliError) -> bool {
    [Code::Unauthorized, Code::TokenExpired].iter().any(|code| code.as_str() == error.code.as_str())
}

fn elsewhere(kept: &Credentials) -> CliError {
    let message = format!("you are logged in to {}", kept.backend_url);
    CliError::new(ExitCode::Failed, ErrorCode::LoggedInElsewhere, message)
        .hint("`link up` starts your own backend: leave the other one with `link logout` first")
}
