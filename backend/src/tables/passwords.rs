//! The passwords of users. A new one ends sessions in the same transaction.

use link_protocol::id::{SessionId, UserId};

use crate::{
    database::{
        Store, StoreError,
        column::{hex, ms},
        sql, write,
    },
    domain::{audit::AuditRecord, session::Warrant},
    tables::{
        audit, device_codes, locks,
        sessions::{check, delete_others},
    },
};

/// The change of a password, which ends all sessions but one.
#[derive(Clone, Copy, Debug)]
pub struct PasswordChange<'a> {
    /// The hash of the password that the person gave.
    pub old: &'a str,
    /// The hash of the new password.
    pub new: &'a str,
    /// The session that is kept.
    pub kept: SessionId,
    /// The digest of its new cookie, if it is that of a browser.
    pub digest: Option<[u8; 32]>,
}

impl Store {
    /// Replaces the password of a user and the cookie of the session that is kept, and ends all other sessions.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if the password or the session is not that of `change` any more.
    pub async fn change_password(
        &self,
        user: UserId,
        change: &PasswordChange<'_>,
        entry: &AuditRecord,
    ) -> Result<(), StoreError> {
        write!(self, [locks::user(user)], |db| {
            check(db, user, &Warrant::Password(change.old.to_owned())).await?;
            check(db, user, &Warrant::Session(change.kept)).await?;
            sql::query("UPDATE users SET password_hash = $2 WHERE user_id = $1")
                .bind(user.to_string())
                .bind(change.new)
                .execute(&mut *db)
                .await?;
            if let Some(digest) = change.digest {
                sql::query(
                    "UPDATE sessions SET digest = $2, previous_digest = NULL, rotated_ms = $3, \
                     is_confirmed = TRUE WHERE session_id = $1",
                )
                .bind(change.kept.uuid().to_string())
                .bind(hex(&digest))
                .bind(ms(entry.at))
                .execute(&mut *db)
                .await?;
            }
            delete_others(db, user, change.kept).await?;
            audit::insert(db, entry).await?;
        });
        Ok(())
    }

    /// Replaces a user's password and ends every login of the user.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn set_password(
        &self,
        id: UserId,
        hash: &str,
        entry: &AuditRecord,
    ) -> Result<(), StoreError> {
        write!(self, [locks::user(id)], |db| {
            sql::query("UPDATE users SET password_hash = $1 WHERE user_id = $2")
                .bind(hash)
                .bind(id.to_string())
                .execute(db)
                .await?;
            for statement in [
                "DELETE FROM refresh_tokens WHERE user_id = $1",
                "DELETE FROM sessions WHERE user_id = $1",
                "DELETE FROM personal_tokens WHERE user_id = $1",
            ] {
                sql::query(statement).bind(id.to_string()).execute(&mut *db).await?;
            }
            device_codes::forget(db, id).await?;
            audit::insert(db, entry).await?;
        });
        Ok(())
    }
}
