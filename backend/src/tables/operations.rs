//! Operations. Their items are in `operations/items.rs`.

mod items;

pub(crate) use items::{
    cancel_items, change_item, counts, insert_items, pending_items, retry_items, sent_items,
};

use std::collections::HashMap;

use jiff::Timestamp;
use link_protocol::{
    backend_api::operation::OperationCounts,
    id::{AccountId, OperationId},
};

use crate::{
    database::{
        Connection, Page, Store, StoreError,
        column::{broken, from_json, json, ms, optional_time, parse, small, time},
        read,
        sql::{self, row},
        write,
    },
    domain::{
        attempts::Peer,
        change::Subject,
        operation::{OperationRecord, Requester},
    },
};

/// The number of operations that one transaction deletes, each with all its items.
const BATCH: i64 = 5;
/// The number of operations that one turn ends.
const ENDED_AT_ONCE: i64 = 100;

row! {
    struct OperationRow {
        operation_id: String,
        account_id: String,
        work: String,
        selection: Option<String>,
        user_id: String,
        token_id: Option<String>,
        address: Option<String>,
        created_ms: i64,
        ended_ms: Option<i64>,
    }
}

impl Store {
    /// Finds an operation.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn operation(&self, id: OperationId) -> Result<Option<OperationRecord>, StoreError> {
        read!(self, |db| find(db, id).await)
    }

    /// Lists the operations of an account with their counts, newest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn operations(
        &self,
        account: AccountId,
        page: &Page,
    ) -> Result<Vec<(OperationRecord, OperationCounts)>, StoreError> {
        read!(self, |db| {
            let rows: Vec<OperationRow> = sql::query_as(
                "SELECT * FROM operations WHERE account_id = $1 \
                 AND ($2 IS NULL OR operation_id < $2) ORDER BY operation_id DESC LIMIT $3",
            )
            .bind(account.to_string())
            .bind(&page.after)
            .bind(i64::from(page.limit))
            .fetch_all(db)
            .await?;
            let mut counts: HashMap<OperationId, OperationCounts> =
                items::counts_of_page(db, account, page).await?;
            rows.into_iter()
                .map(|row| {
                    let record = OperationRecord::try_from(row)?;
                    let counts = counts.remove(&record.id).unwrap_or_default();
                    Ok((record, counts))
                })
                .collect()
        })
    }

    /// Deletes some of the operations that ended before `before`. Returns whether there may be more.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn forget_operations(&self, before: Timestamp) -> Result<bool, StoreError> {
        let deleted = write!(self, [], |db| {
            sql::query(
                "DELETE FROM operations WHERE operation_id IN (SELECT operation_id \
                 FROM operations WHERE ended_ms IS NOT NULL AND ended_ms < $1 LIMIT $2)",
            )
            .bind(ms(before))
            .bind(BATCH)
            .maybe_slow()
            .execute(db)
            .await?
        });
        Ok(deleted.rows_affected() == BATCH.unsigned_abs())
    }

    /// Lists operations without pending or sent items that are not marked as ended yet.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn finished_operations(&self) -> Result<Vec<(OperationId, AccountId)>, StoreError> {
        let rows: Vec<(String, String)> = read!(self, |db| {
            sql::query_as(
                "SELECT o.operation_id, o.account_id FROM operations o WHERE o.ended_ms IS NULL \
                 AND NOT EXISTS (SELECT 1 FROM operation_devices i \
                 WHERE i.operation_id = o.operation_id AND i.state IN ('pending', 'sent')) LIMIT $1",
            )
            .bind(ENDED_AT_ONCE)
            .fetch_all(db)
            .await?
        });
        rows.iter().map(|(id, account)| Ok((parse(id)?, parse(account)?))).collect()
    }
}

pub(crate) async fn find(
    db: &mut Connection,
    id: OperationId,
) -> Result<Option<OperationRecord>, StoreError> {
    let row: Option<OperationRow> =
        sql::query_as("SELECT * FROM operations WHERE operation_id = $1")
            .bind(id.to_string())
            .fetch_optional(db)
            .await?;
    row.map(OperationRecord::try_from).transpose()
}

/// Finds the operation that a request with an idempotency key created.
pub(crate) async fn find_made(
    db: &mut Connection,
    id: &str,
) -> Result<Option<OperationRecord>, StoreError> {
    find(db, parse(id)?).await
}

pub(crate) async fn insert(
    db: &mut Connection,
    record: &OperationRecord,
) -> Result<(), StoreError> {
    db.changed(record.account, Subject::Operation(record.id));
    sql::query(
        "INSERT INTO operations (operation_id, account_id, work, selection, user_id, token_id, \
         address, created_ms, ended_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(record.id.to_string())
    .bind(record.account.to_string())
    .bind(json(&record.work)?)
    .bind(&record.select)
    .bind(record.requester.user.to_string())
    .bind(record.requester.token.map(|token| token.to_string()))
    .bind(record.requester.peer.0.map(|address| address.to_string()))
    .bind(ms(record.created_at))
    .bind(record.ended_at.map(ms))
    .execute(db)
    .await?;
    Ok(())
}

/// Stores the last requester of the operation, and whether it has ended.
pub(crate) async fn update(
    db: &mut Connection,
    record: &OperationRecord,
) -> Result<(), StoreError> {
    db.changed(record.account, Subject::Operation(record.id));
    sql::query(
        "UPDATE operations SET user_id = $2, token_id = $3, address = $4, ended_ms = $5 \
         WHERE operation_id = $1",
    )
    .bind(record.id.to_string())
    .bind(record.requester.user.to_string())
    .bind(record.requester.token.map(|token| token.to_string()))
    .bind(record.requester.peer.0.map(|address| address.to_string()))
    .bind(record.ended_at.map(ms))
    .execute(db)
    .await?;
    Ok(())
}

/// The number of operations of an account.
pub(crate) struct OperationNumbers {
    pub(crate) kept: u32,
    pub(crate) unended: u32,
    /// Those that have yet to send a command to a device.
    pub(crate) sending: u32,
}

/// Counts the operations of an account.
pub(crate) async fn numbers(
    db: &mut Connection,
    account: AccountId,
) -> Result<OperationNumbers, StoreError> {
    let (kept, unended, sending): (i64, i64, i64) = sql::query_as(
        "SELECT (SELECT COUNT(*) FROM operations WHERE account_id = $1), \
         (SELECT COUNT(*) FROM operations WHERE account_id = $1 AND ended_ms IS NULL), \
         (SELECT COUNT(*) FROM operations WHERE account_id = $1 AND ended_ms IS NULL \
         AND EXISTS (SELECT 1 FROM operation_devices WHERE state = 'pending' \
         AND operation_devices.operation_id = operations.operation_id))",
    )
    .bind(account.to_string())
    .fetch_one(db)
    .await?;
    Ok(OperationNumbers { kept: small(kept), unended: small(unended), sending: small(sending) })
}

/// Deletes the oldest `number` of an account's ended operations.
pub(crate) async fn delete_oldest(
    db: &mut Connection,
    account: AccountId,
    number: u32,
) -> Result<(), StoreError> {
    sql::query(
        "DELETE FROM operations WHERE operation_id IN (SELECT operation_id FROM operations \
         WHERE account_id = $1 AND ended_ms IS NOT NULL ORDER BY operation_id LIMIT $2)",
    )
    .bind(account.to_string())
    .bind(i64::from(number))
    .maybe_slow()
    .execute(db)
    .await?;
    Ok(())
}

/// Marks an operation without pending or sent items as ended.
pub(crate) async fn end_finished(
    db: &mut Connection,
    id: OperationId,
    now: Timestamp,
) -> Result<(), StoreError> {
    db.changed(None, Subject::Operation(id));
    sql::query(
        "UPDATE operations SET ended_ms = $2 WHERE operation_id = $1 AND ended_ms IS NULL \
         AND NOT EXISTS (SELECT 1 FROM operation_devices WHERE operation_id = $1 \
         AND state IN ('pending', 'sent'))",
    )
    .bind(id.to_string())
    .bind(ms(now))
    .execute(db)
    .await?;
    Ok(())
}

impl TryFrom<OperationRow> for OperationRecord {
    type Error = StoreError;

    fn try_from(row: OperationRow) -> Result<Self, StoreError> {
        let address = row.address.map(|text| text.parse().map_err(broken)).transpose()?;
        Ok(Self {
            id: parse(&row.operation_id)?,
            account: parse(&row.account_id)?,
            work: from_json(&row.work)?,
            select: row.selection,
            requester: Requester {
                user: parse(&row.user_id)?,
                token: row.token_id.as_deref().map(parse).transpose()?,
                peer: Peer(address),
            },
            created_at: time(row.created_ms)?,
            ended_at: optional_time(row.ended_ms)?,
        })
    }
}
