//! Settings of accounts, the seeds of the signing keys, and a row for test writes.

use jiff::Timestamp;
use link_protocol::{
    allowlist::{Allowlist, Origin},
    id::AccountId,
};

use crate::{
    database::{
        Store, StoreError,
        column::{from_hex, from_json, hex, json, ms},
        read, sql, write,
    },
    domain::change::Subject,
};

impl Store {
    /// Returns the origins that an account allows in addition to the defaults.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn allowlist(&self, account: AccountId) -> Result<Allowlist, StoreError> {
        let value: Option<String> = read!(self, |pool| {
            sql::query_scalar("SELECT origins FROM accounts WHERE account_id = $1")
                .bind(account.to_string())
                .fetch_optional(pool)
                .await?
        });
        let origins: Vec<Origin> = value.as_deref().map_or(Ok(Vec::new()), from_json)?;
        Ok(Allowlist::new(origins))
    }

    /// Replaces the origins of an account.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn set_allowlist(
        &self,
        account: AccountId,
        allowlist: &Allowlist,
    ) -> Result<(), StoreError> {
        write!(self, [], |db| {
            db.changed(account, Subject::Allowlist);
            sql::query("UPDATE accounts SET origins = $2 WHERE account_id = $1")
                .bind(account.to_string())
                .bind(json(&allowlist.origins())?)
                .execute(db)
                .await?;
        });
        Ok(())
    }

    /// Writes a value to test whether writes succeed.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn probe(&self, now: Timestamp) -> Result<(), StoreError> {
        write!(self, [], |db| {
            sql::query(
                "INSERT INTO settings (name, value) VALUES ('written_ms', $1) \
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            )
            .bind(ms(now).to_string())
            .execute(db)
            .await?;
        });
        Ok(())
    }

    /// Returns the seed `name`. If there is none, stores `fresh` as the seed.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn seed(&self, name: &str, fresh: [u8; 32]) -> Result<[u8; 32], StoreError> {
        let seed: String = write!(self, [], |db| {
            sql::query(
                "INSERT INTO seeds (name, seed) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
            )
            .bind(name)
            .bind(hex(&fresh))
            .execute(&mut *db)
            .await?;
            sql::query_scalar("SELECT seed FROM seeds WHERE name = $1")
                .bind(name)
                .fetch_one(db)
                .await?
        });
        from_hex(&seed)
    }
}
