//! `Idempotency-Key`: which request a key stands for, and what it made.

use jiff::Timestamp;
use link_protocol::id::AccountId;

use crate::{
    database::{
        Connection, Store, StoreError,
        column::ms,
        read,
        sql::{self, row},
    },
    domain::refusal::Refusal,
    failure::Failure,
};

/// A request that names itself, so that a repetition can be told from a new one.
#[derive(Clone, Debug)]
pub struct Claim {
    pub account: AccountId,
    pub key: String,
    /// What the request asks for; another wish under the same key is a conflict.
    pub fingerprint: String,
}

row! {
    struct ClaimRow {
        fingerprint: String,
        reference: String,
    }
}

/// Returns the id that the same request made before.
pub(crate) async fn made_before(
    db: &mut Connection,
    claim: Option<&Claim>,
) -> Result<Option<String>, Failure> {
    let Some(claim) = claim else {
        return Ok(None);
    };
    let row: Option<ClaimRow> = sql::query_as(
        "SELECT fingerprint, reference FROM idempotency \
         WHERE account_id = $1 AND idempotency_key = $2",
    )
    .bind(claim.account.to_string())
    .bind(&claim.key)
    .fetch_optional(db)
    .await
    .map_err(StoreError::from)?;
    match row {
        Some(row) if row.fingerprint == claim.fingerprint => Ok(Some(row.reference)),
        Some(_) => Err(Refusal::IdempotencyConflict.into()),
        None => Ok(None),
    }
}

/// Notes what the request made.
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
    /// Returns the id that the same request made before.
    ///
    /// # Errors
    /// [`Refusal::IdempotencyConflict`] and [`StoreError`].
    pub async fn made_before(&self, claim: &Claim) -> Result<Option<String>, Failure> {
        Ok(read!(self, |db| made_before(db, Some(claim)).await?))
    }
}
