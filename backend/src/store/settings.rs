//! Settings, and the seeds of the signing keys.

use link_protocol::allowlist::{Allowlist, Origin};

use crate::store::{
    Store, StoreError,
    column::{from_hex, from_json, hex, json},
    read, sql, write,
};

const ALLOWLIST: &str = "allowlist";

impl Store {
    /// Returns the allowlist that deployments carry from now on.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn allowlist(&self) -> Result<Allowlist, StoreError> {
        let value: Option<String> = read!(self, |pool| {
            sql::query_scalar("SELECT value FROM settings WHERE name = $1")
                .bind(ALLOWLIST)
                .fetch_optional(pool)
                .await?
        });
        let origins: Vec<Origin> = value.as_deref().map_or(Ok(Vec::new()), from_json)?;
        Ok(Allowlist::new(origins))
    }

    /// Replaces the allowlist.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn set_allowlist(&self, allowlist: &Allowlist) -> Result<(), StoreError> {
        write!(self, |db| {
            sql::query(
                "INSERT INTO settings (name, value) VALUES ($1, $2) \
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            )
            .bind(ALLOWLIST)
            .bind(json(&allowlist.origins())?)
            .execute(db)
            .await?;
        });
        Ok(())
    }

    /// Sets the allowlist unless one was set before.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn begin_allowlist(&self, allowlist: &Allowlist) -> Result<(), StoreError> {
        write!(self, |db| {
            sql::query(
                "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
            )
            .bind(ALLOWLIST)
            .bind(json(&allowlist.origins())?)
            .execute(db)
            .await?;
        });
        Ok(())
    }

    /// Returns the seed called `name`; the first call stores `fresh`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn seed(&self, name: &str, fresh: [u8; 32]) -> Result<[u8; 32], StoreError> {
        let seed: String = write!(self, |db| {
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
