//! What whoever may start the program can do for a user who cannot log in.

use link_protocol::secret::Secret;

use crate::{
    app::App,
    domain::{
        account::{self, Email, UserRecord},
        refusal::Refusal,
    },
    failure::Failure,
};

impl App {
    /// Gives the user with this address another password and ends everything that the user is
    /// logged in with.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] for an address or a password that is none, or an address that nobody
    /// has.
    pub async fn reset_password(
        &self,
        email: &str,
        password: Secret,
    ) -> Result<UserRecord, Failure> {
        let email = Email::parse(email)?;
        account::check_password(password.expose())?;
        let unknown = || Refusal::invalid("email: no user has it");
        let user = self.store.user_by_email(&email).await?.ok_or_else(unknown)?;
        let hash = self.passwords.hash(password).await?;
        self.store.set_password(user.id, &hash).await?;
        Ok(user)
    }
}
