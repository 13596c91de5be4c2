//! Commands: the only durable queue. A sequence number and its row are one transaction.

use jiff::Timestamp;
use link_protocol::{
    command::Command,
    id::{CommandId, DeviceId},
    report::CommandReport,
};

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{from_json, json, ms, optional_time, parse, signed, small, time, unsigned},
        read,
        sql::{self, row},
        write,
    },
    domain::{
        audit::AuditRecord,
        command::{CommandRecord, Outcome, Reported, State, Withdrawal},
        outcome,
        refusal::Refusal,
        wish::{self, Placement},
    },
    failure::Failure,
    tables::{Claim, audit, deployments, idempotency},
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

pub(crate) const WAITING: &str = "SELECT * FROM commands WHERE device_id = $1 \
     AND next_delivery_ms IS NOT NULL ORDER BY seq";

/// What the device is to do, and everything that it must not have lost.
pub(crate) const UNFINISHED: &str = "SELECT * FROM commands WHERE device_id = $1 \
     AND (state IN ('queued', 'delivered') OR (state = 'acknowledged' AND result IS NULL)) \
     ORDER BY seq";

/// The same, and what was superseded while the device may have had it.
pub(crate) const GREETED: &str = "SELECT * FROM commands WHERE device_id = $1 \
     AND (state IN ('queued', 'delivered', 'superseded') \
     OR (state = 'acknowledged' AND result IS NULL)) ORDER BY seq";

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

    /// Stores a wish as the command `id` at the time of `entry`, which goes into the audit log, or
    /// returns the command that is the same wish.
    ///
    /// # Errors
    /// [`Refusal::QueueFull`], [`Refusal::IdempotencyConflict`] and [`StoreError`].
    pub async fn place_command(
        &self,
        id: CommandId,
        device: DeviceId,
        wish: Command,
        idempotency_key: String,
        claim: Option<&Claim>,
        entry: &AuditRecord,
    ) -> Result<CommandRecord, Failure> {
        let now = entry.at;
        let record = write!(self, |db| {
            if let Some(made) = idempotency::made_before(db, claim).await? {
                let id = parse(&made)?;
                find(db, device, id).await?.ok_or(Refusal::NotFound("command"))?
            } else {
                let record = place(db, id, device, &wish, &idempotency_key, now).await?;
                idempotency::remember(db, claim, &record.id.to_string(), now).await?;
                audit::insert(db, entry).await?;
                record
            }
        });
        Ok(record)
    }

    /// Changes a command of a device, unless `change` refuses.
    ///
    /// # Errors
    /// What `change` refuses, [`Refusal::NotFound`] and [`StoreError`].
    pub async fn change_command(
        &self,
        device: DeviceId,
        id: CommandId,
        change: impl Fn(&mut CommandRecord) -> Result<(), Refusal> + Send + Sync,
    ) -> Result<CommandRecord, Failure> {
        let record = write!(self, |db| {
            let found = find(db, device, id).await?;
            let mut record = found.ok_or(Refusal::NotFound("command"))?;
            change(&mut record)?;
            update(db, &record).await?;
            record
        });
        Ok(record)
    }

    /// Stores the result of a command and what follows from it, in one transaction.
    ///
    /// # Errors
    /// [`Refusal::CommandExpired`], [`Refusal::NotFound`] and [`StoreError`].
    pub async fn report_command(
        &self,
        device: DeviceId,
        report: CommandReport,
        now: Timestamp,
    ) -> Result<CommandRecord, Failure> {
        let record = write!(self, |db| {
            let found = find(db, device, report.command_id).await?;
            let mut record = found.ok_or(Refusal::NotFound("command"))?;
            let reported =
                record.report(report.clone(), now).map_err(|_too_late| Refusal::CommandExpired)?;
            update(db, &record).await?;
            if reported == Reported::First {
                let consequence = outcome::of(&record.command, report.status);
                deployments::follow(db, device, &consequence, &report, now).await?;
            }
            record
        });
        Ok(record)
    }
}

/// Stores a wish among those that wait.
pub(crate) async fn place(
    db: &mut Connection,
    id: CommandId,
    device: DeviceId,
    wish: &Command,
    idempotency_key: &str,
    now: Timestamp,
) -> Result<CommandRecord, Failure> {
    let mut open = open(db, device).await?;
    for record in &mut open {
        if record.sweep(now) {
            update(db, record).await?;
        }
    }
    let superseded = match wish::place(&open, wish, idempotency_key) {
        Placement::Same(same) => {
            let found = open.into_iter().find(|record| record.id == same);
            return found.ok_or_else(|| Failure::from(StoreError::NotFound));
        }
        Placement::Send { superseded } => superseded,
    };
    for record in open.iter_mut().filter(|record| superseded.contains(&record.id)) {
        record.supersede(Some(id), now);
        update(db, record).await?;
    }
    let waiting = open.iter().filter(|record| record.is_open()).count();
    if waiting >= wish.lane().queue_limit() {
        return Err(Refusal::QueueFull(device).into());
    }
    let seq = next_seq(db, device).await?;
    let record = CommandRecord::new(id, device, seq, wish.clone(), idempotency_key.to_owned(), now);
    insert(db, &record).await?;
    Ok(record)
}

/// Forgets the deliveries of the epoch before.
pub(crate) async fn restart(
    db: &mut Connection,
    device: DeviceId,
    now: Timestamp,
) -> Result<(), StoreError> {
    for mut record in open(db, device).await? {
        record.restart(now);
        update(db, &record).await?;
    }
    Ok(())
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

/// Lists what was not acknowledged in time.
pub(crate) async fn overdue(
    db: &mut Connection,
    now: Timestamp,
) -> Result<Vec<CommandRecord>, StoreError> {
    let rows: Vec<CommandRow> = sql::query_as(
        "SELECT * FROM commands WHERE (state IN ('queued', 'delivered') AND expires_ms < $1) \
         OR (state = 'superseded' AND expires_ms < $1)",
    )
    .bind(ms(now))
    .fetch_all(db)
    .await?;
    rows.into_iter().map(CommandRecord::try_from).collect()
}

pub(crate) async fn update(db: &mut Connection, record: &CommandRecord) -> Result<(), StoreError> {
    let report = record.result.as_ref().map(|outcome| json(&outcome.report)).transpose()?;
    sql::query(
        "UPDATE commands SET state = $2, attempt = $3, result = $4, reported_ms = $5, \
         next_delivery_ms = $6, superseded_by = $7, withdrawn_ms = $8 WHERE command_id = $1",
    )
    .bind(record.id.to_string())
    .bind(state_name(record.state))
    .bind(i64::from(record.attempt))
    .bind(report)
    .bind(record.result.as_ref().map(|outcome| ms(outcome.reported_at)))
    .bind(record.next_delivery_at.map(ms))
    .bind(record.withdrawn.and_then(|withdrawal| withdrawal.by).map(|by| by.to_string()))
    .bind(record.withdrawn.map(|withdrawal| ms(withdrawal.at)))
    .execute(db)
    .await?;
    Ok(())
}

async fn open(db: &mut Connection, device: DeviceId) -> Result<Vec<CommandRecord>, StoreError> {
    const OPEN: &str = "SELECT * FROM commands WHERE device_id = $1 \
         AND state IN ('queued', 'delivered') ORDER BY seq";
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

async fn next_seq(db: &mut Connection, device: DeviceId) -> Result<u64, StoreError> {
    let seq: i64 = sql::query_scalar(
        "UPDATE devices SET last_seq = last_seq + 1 WHERE device_id = $1 RETURNING last_seq",
    )
    .bind(device.to_string())
    .fetch_one(db)
    .await?;
    Ok(unsigned(seq))
}

async fn insert(db: &mut Connection, record: &CommandRecord) -> Result<(), StoreError> {
    sql::query(
        "INSERT INTO commands (command_id, device_id, seq, command, idempotency_key, state, \
         attempt, issued_ms, expires_ms, next_delivery_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    )
    .bind(record.id.to_string())
    .bind(record.device.to_string())
    .bind(signed(record.seq))
    .bind(json(&record.command)?)
    .bind(&record.idempotency_key)
    .bind(state_name(record.state))
    .bind(i64::from(record.attempt))
    .bind(ms(record.issued_at))
    .bind(ms(record.expires_at))
    .bind(record.next_delivery_at.map(ms))
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

/// A column holds a word that no state has.
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
            seq: unsigned(row.seq),
            command: from_json(&row.command)?,
            idempotency_key: row.idempotency_key,
            state: state
                .ok_or_else(|| StoreError::Unavailable(Box::new(UnknownState(row.state))))?,
            attempt: small(row.attempt),
            result: report
                .zip(reported_at)
                .map(|(report, reported_at)| Outcome { report, reported_at }),
            withdrawn,
            issued_at: time(row.issued_ms)?,
            expires_at: time(row.expires_ms)?,
            next_delivery_at: optional_time(row.next_delivery_ms)?,
        })
    }
}
