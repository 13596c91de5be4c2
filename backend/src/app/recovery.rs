//! Password recovery for a user who cannot log in. Only the command line offers it.

use link_protocol::secret::Secret;

use crate::{
    app::App,
    auth::passwords::Queue,
    domain::{
        account::{self, Email, UserRecord},
        attempts::Peer,
        audit::{self, Action},
        refusal::Refusal,
    },
    failure::AppError,
};

impl App {
    /// Sets a new password for the user with this e-mail address and ends all logins and tokens of
    /// the user.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] for an invalid address or password, or if no user has the address.
    pub async fn reset_password(
        &self,
        email: &str,
        password: Secret,
    ) -> Result<UserRecord, AppError> {
        let email = Email::parse(email)?;
        account::check_password(password.expose())?;
        let unknown = || Refusal::invalid("email: no user has it");
        let user = self.store.user_by_email(&email).await?.ok_or_else(unknown)?;
        let hash = self.passwords.hash(Queue::Familiar(None), password).await?;
        let entry = self
            .entry_of(user.account, audit::system(), Peer(None), Action::SetPassword, user.id)
            .with("by `link-backend reset-password`");
        self.store.set_password(user.id, &hash, &entry).await?;
        Ok(user)
    }
}
