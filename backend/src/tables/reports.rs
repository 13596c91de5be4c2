//! The reports of devices: model states, token usage and log records.

use jiff::Timestamp;
use link_protocol::{
    counter::{Epoch, Generation},
    id::{DeviceId, ModelId},
    report::{LogRecord, ModelReport, TelemetryReport},
};

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{from_json, json, ms, signed, unsigned, word},
        sql::{self, row},
        write,
    },
    domain::{
        change::Subject,
        model_state::{Reported, service},
    },
    tables::{locks, usage},
};

/// The number of states that one transaction fills.
const FILLED_AT_ONCE: i64 = 500;

row! {
    struct ReportRow {
        device_id: String,
        model_id: String,
        report: String,
    }
}

row! {
    struct StateRow {
        epoch: i64,
        generation: i64,
    }
}

impl Store {
    /// Fills the services of model states that an earlier version has stored. A state that cannot be read counts as neither: it
    /// must not keep the backend from starting.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn fill_services(&self) -> Result<(), StoreError> {
        loop {
            let filled = write!(self, [], |db| {
                let rows: Vec<ReportRow> = sql::query_as(
                    "SELECT device_id, model_id, report FROM model_states WHERE service IS NULL LIMIT $1",
                )
                .bind(FILLED_AT_ONCE)
                .fetch_all(&mut *db)
                .await?;
                for row in &rows {
                    sql::query(
                        "UPDATE model_states SET service = $3 WHERE device_id = $1 AND model_id = $2",
                    )
                    .bind(&row.device_id)
                    .bind(&row.model_id)
                    .bind(from_json(&row.report).map_or("", |report| service(&report)))
                    .execute(&mut *db)
                    .await?;
                }
                rows.len()
            });
            if filled == 0 {
                return Ok(());
            }
        }
    }

    /// Stores token usage and counts it, unless the same report is stored already. Keeps only the
    /// newest `kept` rows of the device.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn telemetry(
        &self,
        device: DeviceId,
        report: &TelemetryReport,
        kept: u32,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        write!(self, [locks::device(device)], |db| {
            let number: i64 = sql::query_scalar(
                "SELECT COALESCE(MAX(number), 0) + 1 FROM telemetry WHERE device_id = $1",
            )
            .bind(device.to_string())
            .fetch_one(&mut *db)
            .await?;
            let stored = sql::query(
                "INSERT INTO telemetry (device_id, number, inference_id, model_id, report, \
                 received_ms) VALUES ($1, $2, $3, $4, $5, $6) \
                 ON CONFLICT (device_id, inference_id) DO NOTHING",
            )
            .bind(device.to_string())
            .bind(number)
            .bind(report.inference_id.to_string())
            .bind(report.model_id.to_string())
            .bind(json(report)?)
            .bind(ms(now))
            .execute(&mut *db)
            .await?;
            if stored.rows_affected() > 0 {
                db.changed(None, Subject::Usage(device));
                usage::count(db, device, report, now).await?;
            }
            sql::query("DELETE FROM telemetry WHERE device_id = $1 AND number <= $2")
                .bind(device.to_string())
                .bind(number - i64::from(kept))
                .execute(db)
                .await?;
        });
        Ok(())
    }

    /// Stores a log record. Keeps only the newest `kept` records of the device.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn log(
        &self,
        device: DeviceId,
        record: &LogRecord,
        kept: u32,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        write!(self, [locks::device(device)], |db| {
            let number: i64 = sql::query_scalar(
                "SELECT COALESCE(MAX(number), 0) + 1 FROM logs WHERE device_id = $1",
            )
            .bind(device.to_string())
            .fetch_one(&mut *db)
            .await?;
            db.changed(None, Subject::Log(device, unsigned(number)));
            sql::query(
                "INSERT INTO logs (device_id, number, message, severity, category, received_ms) \
                 VALUES ($1, $2, $3, $4, $5, $6)",
            )
            .bind(device.to_string())
            .bind(number)
            .bind(&record.message)
            .bind(word(&record.severity)?)
            .bind(&record.category)
            .bind(ms(now))
            .execute(&mut *db)
            .await?;
            sql::query("DELETE FROM logs WHERE device_id = $1 AND number <= $2")
                .bind(device.to_string())
                .bind(number - i64::from(kept))
                .execute(db)
                .await?;
        });
        Ok(())
    }
}

/// Finds the epoch and generation of the stored state of a model on a device.
pub(crate) async fn reported(
    db: &mut Connection,
    device: DeviceId,
    model: ModelId,
) -> Result<Option<Reported>, StoreError> {
    let row: Option<StateRow> = sql::query_as(
        "SELECT epoch, generation FROM model_states WHERE device_id = $1 AND model_id = $2",
    )
    .bind(device.to_string())
    .bind(model.to_string())
    .fetch_optional(db)
    .await?;
    let reported = |row: StateRow| Reported {
        epoch: Epoch(unsigned(row.epoch)),
        generation: Generation(unsigned(row.generation)),
    };
    Ok(row.map(reported))
}

/// Stores the state of a model on a device in place of the previous one.
pub(crate) async fn set(
    db: &mut Connection,
    device: DeviceId,
    epoch: Epoch,
    report: &ModelReport,
    now: Timestamp,
) -> Result<(), StoreError> {
    db.changed(None, Subject::Serving(device, report.model_id));
    sql::query(
        "INSERT INTO model_states (device_id, model_id, epoch, generation, report, reported_ms, service) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (device_id, model_id) DO UPDATE SET \
         epoch = excluded.epoch, generation = excluded.generation, report = excluded.report, \
         reported_ms = excluded.reported_ms, service = excluded.service",
    )
    .bind(device.to_string())
    .bind(report.model_id.to_string())
    .bind(signed(epoch.0))
    .bind(signed(report.generation.0))
    .bind(json(report)?)
    .bind(ms(now))
    .bind(service(report))
    .execute(db)
    .await?;
    Ok(())
}

/// Lists the stored states of the models on a device.
pub(crate) async fn states(
    db: &mut Connection,
    device: DeviceId,
) -> Result<Vec<ModelReport>, StoreError> {
    let reports: Vec<String> =
        sql::query_scalar("SELECT report FROM model_states WHERE device_id = $1")
            .bind(device.to_string())
            .fetch_all(db)
            .await?;
    reports.iter().map(|report| from_json(report)).collect()
}

/// Tells whether a model exists.
pub(crate) async fn is_known(db: &mut Connection, model: ModelId) -> Result<bool, StoreError> {
    let count: i64 = sql::query_scalar("SELECT COUNT(*) FROM models WHERE model_id = $1")
        .bind(model.to_string())
        .fetch_one(db)
        .await?;
    Ok(count > 0)
}
