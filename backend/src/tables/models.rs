//! Models: their records, and where they are deployed.

mod list;

pub use list::ModelList;

use link_protocol::id::{AccountId, DeviceId, ModelId};

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{from_json, json, ms, parse, signed, small, time, unsigned},
        read,
        sql::{self, row},
    },
    domain::{change::Subject, model::ModelRecord, ownership::Pair},
    tables::{deployments, devices},
};

row! {
    struct ModelRow {
        model_id: String,
        account_id: String,
        publisher: String,
        name: String,
        file_name: String,
        url: Option<String>,
        sha256: Option<String>,
        size_bytes: Option<i64>,
        plugin: String,
        shared: bool,
        uploaded: bool,
        facts: Option<String>,
        created_ms: i64,
    }
}

impl Store {
    /// Finds a model.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn model(&self, id: ModelId) -> Result<Option<ModelRecord>, StoreError> {
        Ok(read!(self, |db| find(db, id).await?))
    }

    /// Finds a model. Also returns whether the model is on a device of `account`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn model_and_use(
        &self,
        account: AccountId,
        id: ModelId,
    ) -> Result<(Option<ModelRecord>, bool), StoreError> {
        Ok(read!(self, |db| {
            let deployed: i64 = sql::query_scalar(
                "SELECT COUNT(*) FROM (SELECT 1 FROM deployments WHERE model_id = $2 \
                 AND account_id = $1 AND state = 'completed' AND NOT removed \
                 LIMIT 1) AS deployed",
            )
            .bind(account.to_string())
            .bind(id.to_string())
            .fetch_one(db)
            .await?;
            (find(db, id).await?, deployed > 0)
        }))
    }

    /// Finds a device and a model. Also returns whether the model was ever deployed to a device of
    /// the account, and whether it is on this device.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn pair(
        &self,
        account: AccountId,
        device: DeviceId,
        model: ModelId,
    ) -> Result<Pair, StoreError> {
        Ok(read!(self, |db| {
            let known: i64 = sql::query_scalar(
                "SELECT COUNT(*) FROM (SELECT 1 FROM deployments \
                 WHERE account_id = $1 AND model_id = $2 LIMIT 1) AS known",
            )
            .bind(account.to_string())
            .bind(model.to_string())
            .fetch_one(db)
            .await?;
            Pair {
                device: devices::find(db, device).await?,
                model: find(db, model).await?,
                known_to_caller: known > 0,
                is_deployed: deployments::is_deployed(db, device, model).await?,
            }
        }))
    }
}

pub(crate) async fn find(
    db: &mut Connection,
    id: ModelId,
) -> Result<Option<ModelRecord>, StoreError> {
    let row: Option<ModelRow> = sql::query_as(
        "SELECT models.*, accounts.name AS publisher FROM models \
         JOIN accounts ON accounts.account_id = models.account_id WHERE models.model_id = $1",
    )
    .bind(id.to_string())
    .fetch_optional(db)
    .await?;
    row.map(ModelRecord::try_from).transpose()
}

/// Counts the models of an account.
pub(crate) async fn count(db: &mut Connection, account: AccountId) -> Result<u32, StoreError> {
    let count: i64 = sql::query_scalar("SELECT COUNT(*) FROM models WHERE account_id = $1")
        .bind(account.to_string())
        .fetch_one(db)
        .await?;
    Ok(small(count))
}

pub(crate) async fn insert(db: &mut Connection, model: &ModelRecord) -> Result<(), StoreError> {
    db.changed(seen_by(model), Subject::Model(model.id));
    sql::query(
        "INSERT INTO models (model_id, account_id, name, file_name, url, sha256, \
         size_bytes, plugin, shared, uploaded, created_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
    )
    .bind(model.id.to_string())
    .bind(model.account.to_string())
    .bind(&model.name)
    .bind(model.file_name.as_str())
    .bind(&model.url)
    .bind(model.sha256.as_ref().map(ToString::to_string))
    .bind(model.size_bytes.map(signed))
    .bind(&model.plugin)
    .bind(model.shared)
    .bind(model.uploaded)
    .bind(ms(model.created_at))
    .execute(db)
    .await?;
    Ok(())
}

/// Stores a changed model. `was_shared` tells whether the model was shared before.
pub(crate) async fn update(
    db: &mut Connection,
    model: &ModelRecord,
    was_shared: bool,
) -> Result<(), StoreError> {
    let seen_by = seen_by(model).filter(|_| !was_shared);
    db.changed(seen_by, Subject::Model(model.id));
    sql::query(
        "UPDATE models SET name = $2, sha256 = $3, size_bytes = $4, shared = $5, uploaded = $6, \
         facts = $7 WHERE model_id = $1",
    )
    .bind(model.id.to_string())
    .bind(&model.name)
    .bind(model.sha256.as_ref().map(ToString::to_string))
    .bind(model.size_bytes.map(signed))
    .bind(model.shared)
    .bind(model.uploaded)
    .bind(model.facts.as_ref().map(json).transpose()?)
    .execute(db)
    .await?;
    Ok(())
}

/// Counts the deployments of a model that are on a device or on their way to one: all of them, and those on devices of
/// other accounts.
pub(crate) async fn uses(
    db: &mut Connection,
    model: &ModelRecord,
) -> Result<(u32, u32), StoreError> {
    let (all, others): (i64, i64) = sql::query_as(
        "SELECT COUNT(*), COALESCE(SUM(CASE WHEN devices.account_id = $2 THEN 0 ELSE 1 END), 0) \
         FROM deployments JOIN devices ON devices.device_id = deployments.device_id \
         WHERE deployments.model_id = $1 \
         AND (deployments.state IN ('queued', 'downloading', 'configuring') \
         OR (deployments.state = 'completed' AND NOT deployments.removed))",
    )
    .bind(model.id.to_string())
    .bind(model.account.to_string())
    .fetch_one(db)
    .await?;
    Ok((small(all), small(others)))
}

pub(crate) async fn delete(db: &mut Connection, model: &ModelRecord) -> Result<(), StoreError> {
    db.changed(seen_by(model), Subject::Model(model.id));
    sql::query("DELETE FROM models WHERE model_id = $1")
        .bind(model.id.to_string())
        .execute(db)
        .await?;
    Ok(())
}

/// Returns the account that sees changes of a model. Every account may see a shared model.
fn seen_by(model: &ModelRecord) -> Option<AccountId> {
    (!model.shared).then_some(model.account)
}

impl TryFrom<ModelRow> for ModelRecord {
    type Error = StoreError;

    fn try_from(row: ModelRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: parse(&row.model_id)?,
            account: parse(&row.account_id)?,
            publisher: parse(&row.publisher)?,
            name: row.name,
            file_name: parse(&row.file_name)?,
            url: row.url,
            sha256: row.sha256.as_deref().map(parse).transpose()?,
            size_bytes: row.size_bytes.map(unsigned),
            plugin: row.plugin,
            shared: row.shared,
            uploaded: row.uploaded,
            facts: row.facts.as_deref().map(from_json).transpose()?,
            created_at: time(row.created_ms)?,
        })
    }
}
