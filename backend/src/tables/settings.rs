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

    /// Replaces the origins of an account. Returns false, and replaces nothing, if they are not those `before`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn set_allowlist(
        &self,
        account: AccountId,
        allowlist: &Allowlist,
        before: Option<&Allowlist>,
    ) -> Result<bool, StoreError> {
        let before = before.map(|before| json(&before.origins())).transpose()?;
        let is_set = write!(self, [], |db| {
            let set = sql::query(
                "UPDATE accounts SET origins = $2 \
                 WHERE account_id = $1 AND (CAST($3 AS TEXT) IS NULL OR origins = $3)",
            )
            .bind(account.to_string())
            .bind(json(&allowlist.origins())?)
            .bind(before.as_deref())
            .execute(&mut *db)
            .await?;
            let is_set = set.rows_affected() > 0;
            if is_set {
                db.changed(account, Subject::Allowlist);
            }
            is_set
        });
        Ok(is_set)
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
