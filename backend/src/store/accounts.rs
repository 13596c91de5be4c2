//! Accounts and the people in them.

use jiff::Timestamp;
use link_protocol::{backend_api::member::Role, id::UserId};

use crate::{
    domain::{
        account::{Email, UserRecord},
        member::MemberRecord,
    },
    store::{
        Connection, Store, StoreError,
        column::{broken, ms, parse},
        members, read,
        sql::{self, row},
        write,
    },
};

row! {
    struct UserRow {
        user_id: String,
        account_id: String,
        email: String,
        password_hash: String,
    }
}

impl Store {
    /// Tells whether any account exists.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn has_account(&self) -> Result<bool, StoreError> {
        let count: i64 = read!(self, |pool| {
            sql::query_scalar("SELECT COUNT(*) FROM accounts").fetch_one(pool).await?
        });
        Ok(count > 0)
    }

    /// Creates the first account with `user` in it; tells whether it was the first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn create_first_account(
        &self,
        user: &UserRecord,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let first = write!(self, |db| {
            let count: i64 =
                sql::query_scalar("SELECT COUNT(*) FROM accounts").fetch_one(db).await?;
            if count == 0 {
                insert(db, user, now).await?;
            }
            count == 0
        });
        Ok(first)
    }

    /// Creates an account with `user` in it.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the e-mail address is taken.
    pub async fn create_account(
        &self,
        user: &UserRecord,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        write!(self, |db| { insert(db, user, now).await? });
        Ok(())
    }

    /// Replaces a user's password and ends every login of the user.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn set_password(&self, id: UserId, hash: &str) -> Result<(), StoreError> {
        write!(self, |db| {
            sql::query("UPDATE users SET password_hash = $1 WHERE user_id = $2")
                .bind(hash)
                .bind(id.to_string())
                .execute(db)
                .await?;
            for statement in [
                "DELETE FROM refresh_tokens WHERE user_id = $1",
                "DELETE FROM personal_tokens WHERE user_id = $1",
            ] {
                sql::query(statement).bind(id.to_string()).execute(&mut *db).await?;
            }
        });
        Ok(())
    }

    /// Finds a user by e-mail address.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn user_by_email(&self, email: &Email) -> Result<Option<UserRecord>, StoreError> {
        let row: Option<UserRow> = read!(self, |pool| {
            sql::query_as("SELECT * FROM users WHERE email = $1")
                .bind(email.as_str())
                .fetch_optional(pool)
                .await?
        });
        row.map(UserRecord::try_from).transpose()
    }

    /// Finds a user.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn user(&self, id: UserId) -> Result<Option<UserRecord>, StoreError> {
        let row: Option<UserRow> = read!(self, |pool| {
            sql::query_as("SELECT * FROM users WHERE user_id = $1")
                .bind(id.to_string())
                .fetch_optional(pool)
                .await?
        });
        row.map(UserRecord::try_from).transpose()
    }
}

async fn insert(db: &mut Connection, user: &UserRecord, now: Timestamp) -> Result<(), StoreError> {
    sql::query("INSERT INTO accounts (account_id, created_ms) VALUES ($1, $2)")
        .bind(user.account.to_string())
        .bind(ms(now))
        .execute(db)
        .await?;
    insert_user(db, user, now).await?;
    let owner =
        MemberRecord { account: user.account, user: user.id, role: Role::Owner, joined_at: now };
    members::insert(db, &owner).await
}

pub(super) async fn insert_user(
    db: &mut Connection,
    user: &UserRecord,
    now: Timestamp,
) -> Result<(), StoreError> {
    sql::query(
        "INSERT INTO users (user_id, account_id, email, password_hash, created_ms) \
         VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(user.id.to_string())
    .bind(user.account.to_string())
    .bind(user.email.as_str())
    .bind(&user.password_hash)
    .bind(ms(now))
    .execute(db)
    .await?;
    Ok(())
}

impl TryFrom<UserRow> for UserRecord {
    type Error = StoreError;

    fn try_from(row: UserRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: parse(&row.user_id)?,
            account: parse(&row.account_id)?,
            email: Email::parse(&row.email).map_err(broken)?,
            password_hash: row.password_hash,
        })
    }
}
