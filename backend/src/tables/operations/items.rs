//! The items of operations: the request for each device. A change names the previous state of the item, so of two
//! concurrent workers only one changes it.

use std::{collections::HashMap, sync::LazyLock};

use jiff::Timestamp;
use link_protocol::{
    backend_api::operation::{ItemState, OperationCounts},
    id::{AccountId, DeviceId, OperationId},
};

use crate::{
    database::{
        Connection, Page, Store, StoreError,
        column::{from_word, ms, parse, small, time},
        read,
        sql::{self, row},
    },
    domain::{change::Subject, operation::Item},
};

/// The number of items that one statement inserts.
const CHUNK: usize = 100;

row! {
    struct ItemRow {
        operation_id: String,
        device_id: String,
        name: String,
        new_name: Option<String>,
        state: String,
        attempts: i64,
        due_ms: i64,
        command_id: Option<String>,
        deployment_id: Option<String>,
        code: Option<String>,
        detail: Option<String>,
        changed_ms: i64,
    }
}

row! {
    struct SentRow {
        operation_id: String,
        device_id: String,
        may_be_told: bool,
    }
}

row! {
    struct CountRow {
        operation_id: String,
        state: String,
        items: i64,
    }
}

/// A sent item, and whether its outcome may be known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) operation: OperationId,
    pub(crate) device: DeviceId,
    pub(crate) may_be_told: bool,
}

impl Store {
    /// Counts the items of an operation.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn operation_counts(&self, id: OperationId) -> Result<OperationCounts, StoreError> {
        read!(self, |db| counts(db, id).await)
    }

    /// Finds an item.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn operation_item(
        &self,
        operation: OperationId,
        device: DeviceId,
    ) -> Result<Option<Item>, StoreError> {
        let row: Option<ItemRow> = read!(self, |db| {
            sql::query_as(
                "SELECT * FROM operation_devices WHERE operation_id = $1 AND device_id = $2",
            )
            .bind(operation.to_string())
            .bind(device.to_string())
            .fetch_optional(db)
            .await?
        });
        row.map(Item::try_from).transpose()
    }

    /// Lists the items of an operation, ordered by the ids of their devices.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn operation_items(
        &self,
        operation: OperationId,
        state: Option<ItemState>,
        page: &Page,
    ) -> Result<Vec<Item>, StoreError> {
        let rows: Vec<ItemRow> = read!(self, |db| {
            sql::query_as(
                "SELECT * FROM operation_devices WHERE operation_id = $1 \
                 AND ($2 IS NULL OR device_id > $2) AND ($3 IS NULL OR state = $3) \
                 ORDER BY device_id LIMIT $4",
            )
            .bind(operation.to_string())
            .bind(&page.after)
            .bind(state.map(ItemState::as_str))
            .bind(i64::from(page.limit))
            .maybe_slow()
            .fetch_all(db)
            .await?
        });
        rows.into_iter().map(Item::try_from).collect()
    }
}

pub(crate) async fn insert_items(db: &mut Connection, items: &[Item]) -> Result<(), StoreError> {
    static CHUNK_AT_ONCE: LazyLock<String> = LazyLock::new(|| insertion(CHUNK));
    static ONE: LazyLock<String> = LazyLock::new(|| insertion(1));
    let (chunks, rest) = items.as_chunks::<CHUNK>();
    let chunks = chunks.iter().map(|chunk| (CHUNK_AT_ONCE.as_str(), chunk.as_slice()));
    let rest = rest.iter().map(|item| (ONE.as_str(), std::slice::from_ref(item)));
    for (text, items) in chunks.chain(rest) {
        let mut query = sql::query(text);
        for item in items {
            query = query
                .bind(item.operation.to_string())
                .bind(item.device.to_string())
                .bind(&item.name)
                .bind(&item.new_name)
                .bind(item.state.as_str())
                .bind(ms(item.due_at))
                .bind(ms(item.changed_at));
        }
        query.execute(db).await?;
    }
    Ok(())
}

fn insertion(items: usize) -> String {
    let values: Vec<String> = (0..items)
        .map(|place| {
            let at = |number: usize| format!("${}", place * 7 + number);
            let places = [at(1), at(2), at(3), at(4), at(5), at(6), at(7)].join(", ");
            format!("({places}, 0)")
        })
        .collect();
    format!(
        "INSERT INTO operation_devices (operation_id, device_id, name, new_name, state, due_ms, \
         changed_ms, attempts) VALUES {}",
        values.join(", ")
    )
}

/// Stores `item` if the stored state is still `before`. Returns whether it was.
pub(crate) async fn change_item(
    db: &mut Connection,
    before: ItemState,
    item: &Item,
) -> Result<bool, StoreError> {
    db.changed(None, Subject::Operation(item.operation));
    let changed = sql::query(
        "UPDATE operation_devices SET state = $3, attempts = $4, due_ms = $5, command_id = $6, \
         deployment_id = $7, code = $8, detail = $9, changed_ms = $10 \
         WHERE operation_id = $1 AND device_id = $2 AND state = $11",
    )
    .bind(item.operation.to_string())
    .bind(item.device.to_string())
    .bind(item.state.as_str())
    .bind(i64::from(item.attempts))
    .bind(ms(item.due_at))
    .bind(item.command.map(|id| id.to_string()))
    .bind(item.deployment.map(|id| id.to_string()))
    .bind(&item.code)
    .bind(&item.detail)
    .bind(ms(item.changed_at))
    .bind(before.as_str())
    .execute(db)
    .await?;
    Ok(changed.rows_affected() > 0)
}

/// Cancels the pending items of an operation.
pub(crate) async fn cancel_items(
    db: &mut Connection,
    operation: OperationId,
    now: Timestamp,
) -> Result<(), StoreError> {
    db.changed(None, Subject::Operation(operation));
    sql::query(
        "UPDATE operation_devices SET state = 'cancelled', changed_ms = $2 \
         WHERE operation_id = $1 AND state = 'pending'",
    )
    .bind(operation.to_string())
    .bind(ms(now))
    .maybe_slow()
    .execute(db)
    .await?;
    Ok(())
}

/// Makes the failed items of an operation pending again.
pub(crate) async fn retry_items(
    db: &mut Connection,
    operation: OperationId,
    now: Timestamp,
) -> Result<(), StoreError> {
    db.changed(None, Subject::Operation(operation));
    sql::query(
        "UPDATE operation_devices SET state = 'pending', due_ms = $2, changed_ms = $2, \
         command_id = NULL, deployment_id = NULL, code = NULL, detail = NULL \
         WHERE operation_id = $1 AND state = 'failed'",
    )
    .bind(operation.to_string())
    .bind(ms(now))
    .maybe_slow()
    .execute(db)
    .await?;
    Ok(())
}

/// Lists due items of the operations after `after`, grouped by operation.
pub(crate) async fn pending_items(
    db: &mut Connection,
    after: &str,
    now: Timestamp,
    most: u32,
) -> Result<Vec<Item>, StoreError> {
    let rows: Vec<ItemRow> = sql::query_as(
        "SELECT * FROM operation_devices WHERE state = 'pending' AND operation_id > $1 \
         AND due_ms <= $2 ORDER BY operation_id, due_ms, device_id LIMIT $3",
    )
    .bind(after)
    .bind(ms(now))
    .bind(i64::from(most))
    .fetch_all(db)
    .await?;
    rows.into_iter().map(Item::try_from).collect()
}

/// Lists the sent items after the item `after`. For each, it tells whether the outcome may be known: the command or
/// deployment has ended or was deleted, or the item was sent before `silent_before`.
pub(crate) async fn sent_items(
    db: &mut Connection,
    after: (&str, &str),
    silent_before: Timestamp,
    most: u32,
) -> Result<Vec<Sent>, StoreError> {
    let rows: Vec<SentRow> = sql::query_as(
        "SELECT i.operation_id, i.device_id, (i.changed_ms < $3 \
         OR (i.deployment_id IS NULL AND (c.command_id IS NULL OR c.result IS NOT NULL \
             OR c.withdrawn_ms IS NOT NULL OR c.state = 'expired')) \
         OR (i.deployment_id IS NOT NULL AND (p.deployment_id IS NULL \
             OR p.state IN ('completed', 'failed', 'cancelled')))) AS may_be_told \
         FROM (SELECT * FROM operation_devices WHERE state = 'sent' \
               AND (operation_id, device_id) > ($1, $2) \
               ORDER BY operation_id, device_id LIMIT $4) i \
         LEFT JOIN commands c ON c.command_id = i.command_id \
         LEFT JOIN deployments p ON p.deployment_id = i.deployment_id \
         ORDER BY i.operation_id, i.device_id",
    )
    .bind(after.0)
    .bind(after.1)
    .bind(ms(silent_before))
    .bind(i64::from(most))
    .maybe_slow()
    .fetch_all(db)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Sent {
                operation: parse(&row.operation_id)?,
                device: parse(&row.device_id)?,
                may_be_told: row.may_be_told,
            })
        })
        .collect()
}

pub(crate) async fn counts(
    db: &mut Connection,
    operation: OperationId,
) -> Result<OperationCounts, StoreError> {
    let rows: Vec<CountRow> = sql::query_as(
        "SELECT operation_id, state, COUNT(*) AS items FROM operation_devices \
         WHERE operation_id = $1 GROUP BY operation_id, state",
    )
    .bind(operation.to_string())
    .maybe_slow()
    .fetch_all(db)
    .await?;
    Ok(counted(rows)?.remove(&operation).unwrap_or_default())
}

/// Counts the items of each operation on a page.
pub(super) async fn counts_of_page(
    db: &mut Connection,
    account: AccountId,
    page: &Page,
) -> Result<HashMap<OperationId, OperationCounts>, StoreError> {
    let rows: Vec<CountRow> = sql::query_as(
        "SELECT operation_id, state, COUNT(*) AS items FROM operation_devices \
         WHERE operation_id IN (SELECT operation_id FROM operations WHERE account_id = $1 \
         AND ($2 IS NULL OR operation_id < $2) ORDER BY operation_id DESC LIMIT $3) \
         GROUP BY operation_id, state",
    )
    .bind(account.to_string())
    .bind(&page.after)
    .bind(i64::from(page.limit))
    .maybe_slow()
    .fetch_all(db)
    .await?;
    counted(rows)
}

fn counted(rows: Vec<CountRow>) -> Result<HashMap<OperationId, OperationCounts>, StoreError> {
    let mut counts: HashMap<OperationId, OperationCounts> = HashMap::new();
    for row in rows {
        let state = from_word::<ItemState>(&row.state)?;
        *counts.entry(parse(&row.operation_id)?).or_default().of_mut(state) += small(row.items);
    }
    Ok(counts)
}

impl TryFrom<ItemRow> for Item {
    type Error = StoreError;

    fn try_from(row: ItemRow) -> Result<Self, StoreError> {
        Ok(Self {
            operation: parse(&row.operation_id)?,
            device: parse(&row.device_id)?,
            name: row.name,
            new_name: row.new_name,
            state: from_word(&row.state)?,
            attempts: small(row.attempts),
            due_at: time(row.due_ms)?,
            command: row.command_id.as_deref().map(parse).transpose()?,
            deployment: row.deployment_id.as_deref().map(parse).transpose()?,
            code: row.code,
            detail: row.detail,
            changed_at: time(row.changed_ms)?,
        })
    }
}
