//! Idempotency keys: the request of each key, and the command or deployment that the request created.

use jiff::Timestamp;

use crate::{
    database::{
        Connection, Store, StoreError,
        column::ms,
        read,
        sql::{self, row},
    },
    domain::claim::{Claim, Claimed},
};

row! {
    struct ClaimRow {
        fingerprint: String,
        reference: String,
    }
}

/// Finds an earlier request with the key of `claim`.
pub(crate) async fn find(
    db: &mut Connection,
    claim: &Claim,
) -> Result<Option<Claimed>, StoreError> {
    let row: Option<ClaimRow> = sql::query_as(
        "SELECT fingerprint, reference FROM idempotency \
         WHERE account_id = $1 AND idempotency_key = $2",
    )
    .bind(claim.account.to_string())
    .bind(&claim.key)
    .fetch_optional(db)
    .await?;
    Ok(row.map(|row| Claimed { fingerprint: row.fingerprint, reference: row.reference }))
}

/// Stores the id of the command or deployment that the request created.
pub(crate) async fn remember(
    db: &mut Connection,
    claim: Option<&Claim>,
    reference: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    if let Some(claim) = claim {
        sql::query(
            "INSERT INTO idempotency (account_id, idempotency_key, fingerprint, reference, \
             created_ms) VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(claim.account.to_string())
        .bind(&claim.key)
        .bind(&claim.fingerprint)
        .bind(reference)
        .bind(ms(now))
        .execute(db)
        .await?;
    }
    Ok(())
}

impl Store {
    /// Finds an earlier request with the key of `claim`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn claimed(&self, claim: &Claim) -> Result<Option<Claimed>, StoreError> {
        Ok(read!(self, |db| find(db, claim).await?))
    }
}
