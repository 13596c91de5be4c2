//! The table row of a deployment.

use link_protocol::{
    backend_api::model::ModelFacts, command::Alias, local_api::Progress, port::Port,
};

use crate::{
    database::{
        Connection, StoreError,
        column::{broken, from_json, from_word, json, ms, parse, signed, time, unsigned, word},
        error::SqlError,
        sql::{self, Columns, Row, row},
    },
    domain::{change::Subject, deployment::DeploymentRecord},
    tables::deployments::DeploymentView,
};

row! {
    pub(crate) struct DeploymentRow {
        deployment_id: String,
        model_id: String,
        device_id: String,
        command_id: String,
        alias: String,
        port: i64,
        state: String,
        reason: Option<String>,
        bytes_done: i64,
        bytes_total: i64,
        allowlist: String,
        proxy: String,
        settings: String,
        removed: bool,
        created_ms: i64,
        updated_ms: i64,
    }
}

pub(crate) struct ViewRow {
    deployment: DeploymentRow,
    publisher: String,
    model_name: Option<String>,
    model_facts: Option<String>,
    device_name: Option<String>,
    current: bool,
    serving: Option<String>,
}

impl Row for ViewRow {
    fn read(columns: Columns<'_>) -> Result<Self, SqlError> {
        Ok(Self {
            deployment: DeploymentRow::read(columns)?,
            publisher: columns.get("publisher")?,
            model_name: columns.get("model_name")?,
            model_facts: columns.get("model_facts")?,
            device_name: columns.get("device_name")?,
            current: columns.get("current")?,
            serving: columns.get("serving")?,
        })
    }
}

/// Stores a new deployment, which becomes the newest of its model on its device.
pub(crate) async fn insert(
    db: &mut Connection,
    record: &DeploymentRecord,
) -> Result<(), StoreError> {
    let replaced: Option<String> = sql::query_scalar(
        "UPDATE deployments SET newest = FALSE WHERE device_id = $1 AND model_id = $2 AND newest \
         RETURNING deployment_id",
    )
    .bind(record.device.to_string())
    .bind(record.model.to_string())
    .fetch_optional(&mut *db)
    .await?;
    if let Some(replaced) = replaced {
        db.changed(None, Subject::Deployment(parse(&replaced)?, record.device));
    }
    db.changed(None, Subject::Deployment(record.id, record.device));
    sql::query(
        "INSERT INTO deployments (deployment_id, model_id, device_id, command_id, alias, port, \
         state, reason, bytes_done, bytes_total, allowlist, proxy, removed, created_ms, \
         updated_ms, settings, newest, account_id) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, TRUE, \
         (SELECT account_id FROM devices WHERE device_id = $3))",
    )
    .bind(record.id.to_string())
    .bind(record.model.to_string())
    .bind(record.device.to_string())
    .bind(record.command.to_string())
    .bind(record.alias.as_str())
    .bind(i64::from(record.port.get()))
    .bind(word(&record.state)?)
    .bind(&record.reason)
    .bind(signed(record.progress.bytes_done))
    .bind(signed(record.progress.bytes_total))
    .bind(json(&record.allowlist)?)
    .bind(json(&record.proxy)?)
    .bind(record.removed)
    .bind(ms(record.created_at))
    .bind(ms(record.updated_at))
    .bind(json(&record.settings)?)
    .execute(db)
    .await?;
    Ok(())
}

/// Makes `record` the current deployment of its model on its device.
pub(crate) async fn make_current(
    db: &mut Connection,
    record: &DeploymentRecord,
) -> Result<(), StoreError> {
    let (device, model) = (record.device.to_string(), record.model.to_string());
    sql::query(
        "UPDATE deployments SET newest = FALSE WHERE device_id = $1 AND model_id = $2 AND newest",
    )
    .bind(device)
    .bind(model)
    .execute(&mut *db)
    .await?;
    db.changed(None, Subject::Deployment(record.id, record.device));
    sql::query("UPDATE deployments SET newest = TRUE WHERE deployment_id = $1")
        .bind(record.id.to_string())
        .execute(db)
        .await?;
    Ok(())
}

pub(crate) async fn update(
    db: &mut Connection,
    record: &DeploymentRecord,
) -> Result<(), StoreError> {
    db.changed(None, Subject::Deployment(record.id, record.device));
    sql::query(
        "UPDATE deployments SET port = $2, state = $3, reason = $4, bytes_done = $5, \
         bytes_total = $6, allowlist = $7, removed = $8, updated_ms = $9, alias = $10, \
         proxy = $11, settings = $12 WHERE deployment_id = $1",
    )
    .bind(record.id.to_string())
    .bind(i64::from(record.port.get()))
    .bind(word(&record.state)?)
    .bind(&record.reason)
    .bind(signed(record.progress.bytes_done))
    .bind(signed(record.progress.bytes_total))
    .bind(json(&record.allowlist)?)
    .bind(record.removed)
    .bind(ms(record.updated_at))
    .bind(record.alias.as_str())
    .bind(json(&record.proxy)?)
    .bind(json(&record.settings)?)
    .execute(db)
    .await?;
    Ok(())
}

impl TryFrom<DeploymentRow> for DeploymentRecord {
    type Error = StoreError;

    fn try_from(row: DeploymentRow) -> Result<Self, StoreError> {
        let port = u16::try_from(row.port).map_err(broken)?;
        Ok(Self {
            id: parse(&row.deployment_id)?,
            model: parse(&row.model_id)?,
            device: parse(&row.device_id)?,
            command: parse(&row.command_id)?,
            alias: parse::<Alias>(&row.alias)?,
            port: Port::try_from(port).map_err(broken)?,
            state: from_word(&row.state)?,
            reason: row.reason,
            progress: Progress {
                bytes_done: unsigned(row.bytes_done),
                bytes_total: unsigned(row.bytes_total),
            },
            allowlist: from_json(&row.allowlist)?,
            proxy: from_json(&row.proxy)?,
            settings: from_json(&row.settings)?,
            removed: row.removed,
            created_at: time(row.created_ms)?,
            updated_at: time(row.updated_ms)?,
        })
    }
}

impl TryFrom<ViewRow> for DeploymentView {
    type Error = StoreError;

    fn try_from(row: ViewRow) -> Result<Self, StoreError> {
        let facts: Option<ModelFacts> = row.model_facts.as_deref().map(from_json).transpose()?;
        Ok(Self {
            record: row.deployment.try_into()?,
            publisher: parse(&row.publisher)?,
            model_name: row.model_name,
            task: facts.and_then(|facts| facts.task),
            device_name: row.device_name,
            current: row.current,
            serving: row.serving.as_deref().map(from_json).transpose()?,
        })
    }
}
