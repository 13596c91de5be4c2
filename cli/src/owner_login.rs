//! Logs the owner in to this user's backend, by the proof in a file that only this user can read.

use link_client::{
    backend::{self, BackendClient},
    http::Http,
};
use link_platform::user_manager;
use link_protocol::backend_api::local_owner::{OwnerFile, OwnerLogin};

use crate::{
    context::Context,
    credentials::{Credentials, CredentialsFile},
    error::CliError,
};

/// Logs in the owner, stores the login, and returns the owner's e-mail address. The first login
/// creates the account.
///
/// # Errors
/// If the backend refuses, or the login cannot be stored.
pub(crate) async fn log_in(context: &Context, owner: &OwnerFile) -> Result<String, CliError> {
    let http = Http::new(&owner.url)?;
    let email = email_of(user_manager::user_name());
    let request = OwnerLogin { proof: owner.proof.clone(), email };
    let tokens = backend::log_in_owner(&http, &request).await?;
    let me = BackendClient::new(http.clone(), tokens.clone(), None).me().await?;
    let login = Credentials {
        backend_url: http.base().to_owned(),
        email: me.email.clone(),
        access_token: tokens.access,
        refresh_token: tokens.refresh,
    };
    CredentialsFile::of(&context.roots).write(&login)?;
    Ok(me.email)
}

/// Returns an e-mail address made from the name of the system's user. None if an address cannot
/// contain the name.
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
