//! Leases, by which the backends on one database elect the one that does the work of all.

use jiff::Timestamp;

use crate::database::{Store, StoreError, column::ms, sql, write};

impl Store {
    /// Takes the lease `name` for `holder` until `until`, or extends it. Returns whether `holder` has the lease. The
    /// lease of another holder can be taken only after it has expired.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn take_lease(
        &self,
        name: &str,
        holder: &str,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let taken = write!(self, [], |db| {
            sql::query(
                "INSERT INTO leases (name, holder, until_ms) VALUES ($1, $2, $3) \
                 ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, \
                 until_ms = excluded.until_ms \
                 WHERE leases.holder = excluded.holder OR leases.until_ms <= $4",
            )
            .bind(name)
            .bind(holder)
            .bind(ms(until))
            .bind(ms(now))
            .execute(db)
            .await?
        });
        Ok(taken.rows_affected() > 0)
    }

    /// Releases the lease `name` if `holder` has it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn return_lease(&self, name: &str, holder: &str) -> Result<(), StoreError> {
        write!(self, [], |db| {
            sql::query("DELETE FROM leases WHERE name = $1 AND holder = $2")
                .bind(name)
                .bind(holder)
                .execute(db)
                .await?;
        });
        Ok(())
    }
}
