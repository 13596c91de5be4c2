//! Commands: the only durable queue. The transaction that stores a command also assigns its sequence number.

use jiff::Timestamp;
use link_protocol::{
    counter::Seq,
    id::{AccountId, CommandId, DeviceId},
    report::CommandReport,
};

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{from_json, json, ms, optional_time, parse, signed, small, time, unsigned},
        read,
        sql::{self, row},
    },
    domain::{
        change::Subject,
        command::{CommandOutcome, CommandRecord, State, Withdrawal},
    },
};

row! {
    pub(crate) struct CommandRow {
        command_id: String,
        device_id: String,
        seq: i64,
        command: String,
        idempotency_key: String,
        state: String,
        attempt: i64,
        result: Option<String>,
        reported_ms: Option<i64>,
        issued_ms: i64,
        expires_ms: i64,
        next_delivery_ms: Option<i64>,
        superseded_by: Option<String>,
        withdrawn_ms: Option<i64>,
    }
}

// The column `unfinished` is the condition of the indexes `commands_unfinished` and `commands_account_open`, so these
// statements read only commands that can still change.

/// The statement for commands that wait for a delivery.
pub(crate) const WAITING: &str = "SELECT * FROM commands WHERE device_id = $1 AND unfinished \
     AND next_delivery_ms IS NOT NULL ORDER BY seq";

/// The statement for commands that the device still has to execute, or must not have lost.
pub(crate) const UNFINISHED: &str = "SELECT * FROM commands WHERE device_id = $1 AND unfinished \
     AND state <> 'superseded' ORDER BY seq";

/// The statement for unfinished commands, and for superseded commands that the device may have received.
pub(crate) const GREETED: &str =
    "SELECT * FROM commands WHERE device_id = $1 AND unfinished ORDER BY seq";

impl Store {
    /// Finds a command.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn command(&self, id: CommandId) -> Result<Option<CommandRecord>, StoreError> {
        let row: Option<CommandRow> = read!(self, |pool| {
            sql::query_as("SELECT * FROM commands WHERE command_id = $1")
                .bind(id.to_string())
                .fetch_optional(pool)
                .await?
        });
        row.map(CommandRecord::try_from).transpose()
    }
}

pub(crate) async fn find(
    db: &mut Connection,
    device: DeviceId,
    id: CommandId,
) -> Result<Option<CommandRecord>, StoreError> {
    let row: Option<CommandRow> =
        sql::query_as("SELECT * FROM commands WHERE command_id = $1 AND device_id = $2")
            .bind(id.to_string())
            .bind(device.to_string())
            .fetch_optional(db)
            .await?;
    row.map(CommandRecord::try_from).transpose()
}

/// Finds the command that a request with an idempotency key created.
pub(crate) async fn find_made(
    db: &mut Connection,
    device: DeviceId,
    id: &str,
) -> Result<Option<CommandRecord>, StoreError> {
    find(db, device, parse(id)?).await
}

/// Lists up to `most` commands that their devices did not acknowledge in time.
pub(crate) async fn overdue(
    db: &mut Connection,
    now: Timestamp,
    most: u32,
) -> Result<Vec<CommandRecord>, StoreError> {
    let rows: Vec<CommandRow> = sql::query_as(
        // The words of the index `commands_unanswered`.
        "SELECT * FROM commands WHERE state <> 'acknowledged' AND state <> 'expired' \
         AND expires_ms < $1 ORDER BY expires_ms LIMIT $2",
    )
    .bind(ms(now))
    .bind(i64::from(most))
    .fetch_all(db)
    .await?;
    rows.into_iter().map(CommandRecord::try_from).collect()
}

/// Stores the changed parts of a command.
pub(crate) async fn update(db: &mut Connection, record: &CommandRecord) -> Result<(), StoreError> {
    db.changed(None, Subject::Command(record.id, record.device));
    // A result and a withdrawal stay once they are set. Before them, a change is a delivery or a receipt, which are most
    // of all updates: they set no column of the indexes of unfinished commands.
    let is_waiting = !record.is_final() && record.withdrawn.is_none();
    let changed = if is_waiting {
        sql::query(
            "UPDATE commands SET state = $2, attempt = $3, next_delivery_ms = $4 \
             WHERE command_id = $1",
        )
    } else {
        sql::query(
            "UPDATE commands SET state = $2, attempt = $3, next_delivery_ms = $4, result = $5, \
             reported_ms = $6, superseded_by = $7, withdrawn_ms = $8, unfinished = $9 \
             WHERE command_id = $1",
        )
    };
    let changed = changed
        .bind(record.id.to_string())
        .bind(state_name(record.state))
        .bind(i64::from(record.attempt))
        .bind(record.next_delivery_at.map(ms));
    let changed = if is_waiting {
        changed
    } else {
        let report = record.result.as_ref().map(|outcome| json(&outcome.report)).transpose()?;
        changed
            .bind(report)
            .bind(record.result.as_ref().map(|outcome| ms(outcome.reported_at)))
            .bind(record.withdrawn.and_then(|withdrawal| withdrawal.by).map(|by| by.to_string()))
            .bind(record.withdrawn.map(|withdrawal| ms(withdrawal.at)))
            .bind(!record.is_final())
    };
    changed.execute(db).await?;
    Ok(())
}

/// Lists the commands of a device that can still be delivered, ordered by sequence number.
pub(crate) async fn open(
    db: &mut Connection,
    device: DeviceId,
) -> Result<Vec<CommandRecord>, StoreError> {
    // Every placed command runs this. The sign keeps SQLite from an index in the order of `seq`, whose rows include
    // acknowledged commands; the index `commands_wish` has only the open ones, of which there are few.
    const OPEN: &str = "SELECT * FROM commands WHERE device_id = $1 \
         AND state IN ('queued', 'delivered') ORDER BY +seq";
    list(db, OPEN, device).await
}

pub(crate) async fn list(
    db: &mut Connection,
    query: &'static str,
    device: DeviceId,
) -> Result<Vec<CommandRecord>, StoreError> {
    let rows: Vec<CommandRow> = sql::query_as(query).bind(device.to_string()).fetch_all(db).await?;
    rows.into_iter().map(CommandRecord::try_from).collect()
}

/// Assigns the next sequence number of a device. Returns it with the account of the device.
pub(crate) async fn next_seq(
    db: &mut Connection,
    device: DeviceId,
) -> Result<(Seq, AccountId), StoreError> {
    let (seq, account): (i64, String) = sql::query_as(
        "UPDATE devices SET last_seq = last_seq + 1 WHERE device_id = $1 \
         RETURNING last_seq, account_id",
    )
    .bind(device.to_string())
    .fetch_one(db)
    .await?;
    Ok((Seq(unsigned(seq)), parse(&account)?))
}

/// Stores a new command for a device of `account`.
pub(crate) async fn insert(
    db: &mut Connection,
    account: AccountId,
    record: &CommandRecord,
) -> Result<(), StoreError> {
    db.changed(None, Subject::Command(record.id, record.device));
    sql::query(
        "INSERT INTO commands (command_id, device_id, seq, command, idempotency_key, state, \
         attempt, issued_ms, expires_ms, next_delivery_ms, account_id, kind) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    )
    .bind(record.id.to_string())
    .bind(record.device.to_string())
    .bind(signed(record.seq.0))
    .bind(json(&record.command)?)
    .bind(&record.idempotency_key)
    .bind(state_name(record.state))
    .bind(i64::from(record.attempt))
    .bind(ms(record.issued_at))
    .bind(ms(record.expires_at))
    .bind(record.next_delivery_at.map(ms))
    .bind(account.to_string())
    .bind(record.command.kind().as_str())
    .execute(db)
    .await?;
    Ok(())
}

const STATES: [State; 5] =
    [State::Queued, State::Delivered, State::Acknowledged, State::Expired, State::Superseded];

const fn state_name(state: State) -> &'static str {
    match state {
        State::Queued => "queued",
        State::Delivered => "delivered",
        State::Acknowledged => "acknowledged",
        State::Expired => "expired",
        State::Superseded => "superseded",
    }
}

/// A column holds the name of an unknown state.
#[derive(Debug, thiserror::Error)]
#[error("no command has the state `{0}`")]
struct UnknownState(String);

impl TryFrom<CommandRow> for CommandRecord {
    type Error = StoreError;

    fn try_from(row: CommandRow) -> Result<Self, StoreError> {
        let state = STATES.into_iter().find(|state| state_name(*state) == row.state);
        let report = row.result.as_deref().map(from_json::<CommandReport>).transpose()?;
        let reported_at = optional_time(row.reported_ms)?;
        let by = row.superseded_by.as_deref().map(parse).transpose()?;
        let withdrawn = optional_time(row.withdrawn_ms)?.map(|at| Withdrawal { by, at });
        Ok(Self {
            id: parse(&row.command_id)?,
            device: parse(&row.device_id)?,
            seq: Seq(unsigned(row.seq)),
            command: from_json(&row.command)?,
            idempotency_key: row.idempotency_key,
            state: state
                .ok_or_else(|| StoreError::Unavailable(Box::new(UnknownState(row.state))))?,
            attempt: small(row.attempt),
            result: report
                .zip(reported_at)
                .map(|(report, reported_at)| CommandOutcome { report, reported_at }),
            withdrawn,
            issued_at: time(row.issued_ms)?,
            expires_at: time(row.expires_ms)?,
            next_delivery_at: optional_time(row.next_delivery_ms)?,
        })
    }
}
