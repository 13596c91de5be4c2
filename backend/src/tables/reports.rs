//! What devices report of themselves: model states, token usage, log records.

use jiff::Timestamp;
use link_protocol::{
    id::{DeviceId, ModelId},
    report::{LogRecord, ModelReport, ModelState, TelemetryReport},
};

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{from_json, json, ms, signed, unsigned, word},
        lock::Lock,
        sql::{self, row},
        write,
    },
    domain::deployment,
    tables::{deployments, locks, usage},
};

row! {
    struct StateRow {
        epoch: i64,
        generation: i64,
    }
}

impl Store {
    /// Stores the state of a model on a device, unless a newer one is known. Generations start
    /// again in another epoch.
    ///
    /// # Errors
    /// [`StoreError`]. A model that is not known is ignored: its record was removed.
    pub async fn model_state(
        &self,
        device: DeviceId,
        epoch: u64,
        report: &ModelReport,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let held = [locks::model_kept(report.model_id), locks::device(device)];
        write!(self, held, |db| { apply(db, device, epoch, report, now).await? });
        Ok(())
    }

    /// Stores what a device says at the start of a connection: it has what it lists, whatever was
    /// known of it, and nothing else. The deployments stay as they are: what was on its way while it
    /// said so is told again.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn serving_states(
        &self,
        device: DeviceId,
        epoch: u64,
        serving: &[ModelReport],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let models = serving.iter().map(|report| locks::model_kept(report.model_id));
        let held: Vec<Lock> = models.chain([locks::device(device)]).collect();
        write!(self, held, |db| {
            for mut known in states(db, device).await? {
                let listed = serving.iter().any(|report| report.model_id == known.model_id);
                if known.state != ModelState::Removed && !listed {
                    known.is_serving = false;
                    known.state = ModelState::Removed;
                    set(db, device, epoch, &known, now).await?;
                }
            }
            for report in serving {
                set_known(db, device, epoch, report, now).await?;
            }
        });
        Ok(())
    }

    /// Stores token usage once and counts it; only the newest `kept` rows of the device stay.
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

    /// Stores a log record; only the newest `kept` of the device stay.
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

async fn apply(
    db: &mut Connection,
    device: DeviceId,
    epoch: u64,
    report: &ModelReport,
    now: Timestamp,
) -> Result<(), StoreError> {
    let known: Option<StateRow> = sql::query_as(
        "SELECT epoch, generation FROM model_states WHERE device_id = $1 AND model_id = $2",
    )
    .bind(device.to_string())
    .bind(report.model_id.to_string())
    .fetch_optional(&mut *db)
    .await?;
    let late = known.is_some_and(|known| {
        unsigned(known.epoch) == epoch && report.generation < unsigned(known.generation)
    });
    if late {
        return Ok(());
    }
    set_known(db, device, epoch, report, now).await
}

/// Stores what a device says of a model that there is, whatever was known of it.
async fn set_known(
    db: &mut Connection,
    device: DeviceId,
    epoch: u64,
    report: &ModelReport,
    now: Timestamp,
) -> Result<(), StoreError> {
    if !is_known(db, report.model_id).await? {
        return Ok(());
    }
    set(db, device, epoch, report, now).await?;
    if report.state == ModelState::Removed {
        let all = deployments::of_device(db, device).await?;
        for gone in deployment::removed(all, report.model_id, now) {
            deployments::update(db, &gone).await?;
        }
    }
    Ok(())
}

async fn set(
    db: &mut Connection,
    device: DeviceId,
    epoch: u64,
    report: &ModelReport,
    now: Timestamp,
) -> Result<(), StoreError> {
    sql::query(
        "INSERT INTO model_states (device_id, model_id, epoch, generation, report, reported_ms) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (device_id, model_id) DO UPDATE SET \
         epoch = excluded.epoch, generation = excluded.generation, report = excluded.report, \
         reported_ms = excluded.reported_ms",
    )
    .bind(device.to_string())
    .bind(report.model_id.to_string())
    .bind(signed(epoch))
    .bind(signed(report.generation))
    .bind(json(report)?)
    .bind(ms(now))
    .execute(db)
    .await?;
    Ok(())
}

async fn states(db: &mut Connection, device: DeviceId) -> Result<Vec<ModelReport>, StoreError> {
    let reports: Vec<String> =
        sql::query_scalar("SELECT report FROM model_states WHERE device_id = $1")
            .bind(device.to_string())
            .fetch_all(db)
            .await?;
    reports.iter().map(|report| from_json(report)).collect()
}

async fn is_known(db: &mut Connection, model: ModelId) -> Result<bool, StoreError> {
    let count: i64 = sql::query_scalar("SELECT COUNT(*) FROM models WHERE model_id = $1")
        .bind(model.to_string())
        .fetch_one(db)
        .await?;
    Ok(count > 0)
}
