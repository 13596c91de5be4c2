//! Accounts and the people in them.

use jiff::Timestamp;
use link_protocol::{
    account_name::AccountName,
    backend_api::member::Role,
    id::{AccountId, UserId},
};

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{broken, ms, parse},
        read,
        sql::{self, row},
        write,
    },
    domain::{
        account::{self, Email, UserRecord},
        member::MemberRecord,
        sharing::{AccountRef, Publishers, Sharing},
    },
    tables::{locks, members},
};

row! {
    struct UserRow {
        user_id: String,
        account_id: String,
        email: String,
        password_hash: String,
    }
}

row! {
    struct NamelessRow {
        account_id: String,
        email: Option<String>,
    }
}

/// Finds the hash of a user's password.
pub(crate) async fn password_hash(
    db: &mut Connection,
    user: UserId,
) -> Result<Option<String>, StoreError> {
    Ok(sql::query_scalar("SELECT password_hash FROM users WHERE user_id = $1")
        .bind(user.to_string())
        .fetch_optional(db)
        .await?)
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

    /// Creates the first account with `user` in it. Returns whether it was the first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn create_first_account(
        &self,
        user: &UserRecord,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let first = write!(self, [locks::table("accounts")], |db| {
            let count: i64 =
                sql::query_scalar("SELECT COUNT(*) FROM accounts").fetch_one(&mut *db).await?;
            if count == 0 {
                let name = free_name(db, user.email.as_str()).await?;
                insert(db, user, &name, now).await?;
            }
            count == 0
        });
        Ok(first)
    }

    /// Gives a name to each account that an earlier version created without one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn name_accounts(&self) -> Result<(), StoreError> {
        write!(self, [locks::table("accounts")], |db| {
            let nameless: Vec<NamelessRow> = sql::query_as(
                "SELECT a.account_id, (SELECT MIN(u.email) FROM members m \
                 JOIN users u ON u.user_id = m.user_id \
                 WHERE m.account_id = a.account_id AND m.role = 'owner') AS email \
                 FROM accounts a WHERE a.name IS NULL ORDER BY a.account_id",
            )
            .fetch_all(&mut *db)
            .await?;
            for row in nameless {
                let email = row.email.as_deref().unwrap_or_default();
                let name = free_name(db, email).await?;
                sql::query("UPDATE accounts SET name = $2 WHERE account_id = $1")
                    .bind(row.account_id)
                    .bind(name.as_str())
                    .execute(&mut *db)
                    .await?;
            }
        });
        Ok(())
    }

    /// Returns the name of an account.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn account_name(&self, account: AccountId) -> Result<AccountName, StoreError> {
        let name: Option<String> = read!(self, |db| {
            sql::query_scalar("SELECT name FROM accounts WHERE account_id = $1")
                .bind(account.to_string())
                .fetch_optional(db)
                .await?
        });
        parse(&name.ok_or(StoreError::NotFound)?)
    }

    /// Returns the accounts that may currently share models.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn publishers(&self, sharing: &Sharing) -> Result<Publishers, StoreError> {
        let ids: Vec<String> = match sharing {
            Sharing::OnlyAccount => {
                let ids: Vec<String> = read!(self, |db| {
                    sql::query_scalar("SELECT account_id FROM accounts LIMIT 2")
                        .fetch_all(db)
                        .await?
                });
                if ids.len() == 1 { ids } else { Vec::new() }
            }
            Sharing::Named(accounts) => read!(self, |db| {
                let mut ids = Vec::with_capacity(accounts.len());
                for account in accounts {
                    ids.extend(find_named(db, account).await?);
                }
                ids
            }),
        };
        let accounts: Result<_, _> = ids.iter().map(|id| parse(id)).collect();
        Ok(Publishers::new(accounts?))
    }

    /// Returns the entries of `sharing` that match no account.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn unknown_publishers<'a>(
        &self,
        sharing: &'a Sharing,
    ) -> Result<Vec<&'a AccountRef>, StoreError> {
        let Sharing::Named(accounts) = sharing else { return Ok(Vec::new()) };
        Ok(read!(self, |db| {
            let mut unknown = Vec::new();
            for account in accounts {
                if find_named(db, account).await?.is_none() {
                    unknown.push(account);
                }
            }
            unknown
        }))
    }

    /// Finds the owner of the first account.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn first_owner(&self) -> Result<Option<UserRecord>, StoreError> {
        let row: Option<UserRow> = read!(self, |pool| {
            sql::query_as(
                "SELECT users.* FROM users \
                 JOIN members ON members.user_id = users.user_id \
                 AND members.account_id = users.account_id \
                 JOIN accounts ON accounts.account_id = users.account_id \
                 WHERE members.role = 'owner' \
                 ORDER BY accounts.created_ms, accounts.account_id, members.joined_ms, \
                 users.user_id LIMIT 1",
            )
            .fetch_optional(pool)
            .await?
        });
        row.map(UserRecord::try_from).transpose()
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

/// Returns the first candidate for an account name for `email` that is free.
pub(crate) async fn free_name(db: &mut Connection, email: &str) -> Result<AccountName, StoreError> {
    let mut number = 1;
    loop {
        let name = account::name_for(email, number);
        if !is_taken(db, &name).await? {
            return Ok(name);
        }
        number += 1;
    }
}

/// Tells whether an account has the name.
pub(crate) async fn is_taken(db: &mut Connection, name: &AccountName) -> Result<bool, StoreError> {
    let accounts: i64 = sql::query_scalar("SELECT COUNT(*) FROM accounts WHERE name = $1")
        .bind(name.as_str())
        .fetch_one(db)
        .await?;
    Ok(accounts > 0)
}

async fn find_named(
    db: &mut Connection,
    account: &AccountRef,
) -> Result<Option<String>, StoreError> {
    let (text, value) = match account {
        AccountRef::Id(id) => {
            ("SELECT account_id FROM accounts WHERE account_id = $1", id.to_string())
        }
        AccountRef::Name(name) => {
            ("SELECT account_id FROM accounts WHERE name = $1", name.to_string())
        }
    };
    Ok(sql::query_scalar(text).bind(value).fetch_optional(db).await?)
}

/// Stores an account called `name` with `user` as its owner.
pub(crate) async fn insert(
    db: &mut Connection,
    user: &UserRecord,
    name: &AccountName,
    now: Timestamp,
) -> Result<(), StoreError> {
    sql::query("INSERT INTO accounts (account_id, created_ms, name) VALUES ($1, $2, $3)")
        .bind(user.account.to_string())
        .bind(ms(now))
        .bind(name.as_str())
        .execute(db)
        .await?;
    insert_user(db, user, now).await?;
    let owner =
        MemberRecord { account: user.account, user: user.id, role: Role::Owner, joined_at: now };
    members::insert(db, &owner).await
}

pub(crate) async fn insert_user(
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
