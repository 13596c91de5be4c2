//! Deployments of a model to a device, and the newest deployment of each such pair.

mod deployed;
mod list;
mod purge;
mod row;

pub use list::DeploymentFilter;
pub(crate) use purge::{delete, outdated};
pub(crate) use row::{insert, make_current, update};

use jiff::Timestamp;
use link_protocol::{
    account_name::AccountName,
    id::{AccountId, DeploymentId, DeviceId, ModelId},
    report::ModelReport,
    task::Task,
};

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{ms, parse},
        read, sql,
    },
    domain::deployment::DeploymentRecord,
    tables::deployments::row::{DeploymentRow, ViewRow},
};

/// A deployment with the publisher and the state of its model.
#[derive(Clone, Debug)]
pub struct DeploymentView {
    pub record: DeploymentRecord,
    /// The account that owns the model.
    pub publisher: AccountName,
    pub model_name: Option<String>,
    /// What the model is for, if the backend has read its file.
    pub task: Option<Task>,
    pub device_name: Option<String>,
    /// Whether this is the newest deployment of its model on its device, without those whose failure a person has seen.
    pub current: bool,
    /// The last state of the model that the device reported.
    pub serving: Option<ModelReport>,
}

impl Store {
    /// Finds a deployment on a device of the account.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn deployment(
        &self,
        account: AccountId,
        id: DeploymentId,
    ) -> Result<Option<DeploymentView>, StoreError> {
        let row: Option<ViewRow> = read!(self, |pool| {
            sql::query_as(
                "SELECT p.*, p.newest AS current, s.report AS serving, a.name AS publisher, \
                 o.name AS model_name, o.facts AS model_facts, v.name AS device_name FROM deployments p \
                 JOIN models o ON o.model_id = p.model_id \
                 JOIN devices v ON v.device_id = p.device_id \
                 JOIN accounts a ON a.account_id = o.account_id \
                 LEFT JOIN model_states s \
                 ON s.device_id = p.device_id AND s.model_id = p.model_id \
                 WHERE p.account_id = $1 AND p.deployment_id = $2",
            )
            .bind(account.to_string())
            .bind(id.to_string())
            .fetch_optional(pool)
            .await?
        });
        row.map(DeploymentView::try_from).transpose()
    }

    /// Tells whether a device may download a model's file, because the model is deployed to it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn may_fetch(&self, device: DeviceId, model: ModelId) -> Result<bool, StoreError> {
        let count: i64 = read!(self, |pool| {
            sql::query_scalar(
                "SELECT COUNT(*) FROM deployments WHERE device_id = $1 AND model_id = $2 \
                 AND state NOT IN ('failed', 'cancelled')",
            )
            .bind(device.to_string())
            .bind(model.to_string())
            .fetch_one(pool)
            .await?
        });
        Ok(count > 0)
    }
}

/// Tells whether a model is on a device.
pub(crate) async fn is_deployed(
    db: &mut Connection,
    device: DeviceId,
    model: ModelId,
) -> Result<bool, StoreError> {
    let deployed: i64 = sql::query_scalar(
        "SELECT COUNT(*) FROM deployments WHERE device_id = $1 AND model_id = $2 \
         AND state = 'completed' AND NOT removed",
    )
    .bind(device.to_string())
    .bind(model.to_string())
    .fetch_one(db)
    .await?;
    Ok(deployed > 0)
}

pub(crate) async fn find(
    db: &mut Connection,
    id: DeploymentId,
) -> Result<Option<DeploymentRecord>, StoreError> {
    let row: Option<DeploymentRow> =
        sql::query_as("SELECT * FROM deployments WHERE deployment_id = $1")
            .bind(id.to_string())
            .fetch_optional(db)
            .await?;
    row.map(DeploymentRecord::try_from).transpose()
}

/// Finds the deployment that a request with an idempotency key created.
pub(crate) async fn find_made(
    db: &mut Connection,
    id: &str,
) -> Result<Option<DeploymentRecord>, StoreError> {
    find(db, parse(id)?).await
}

/// Lists up to `most` unfinished deployments that have been queued since before `before`, or whose command has ended.
pub(crate) async fn stuck(
    db: &mut Connection,
    before: Timestamp,
    most: u32,
) -> Result<Vec<DeploymentRecord>, StoreError> {
    let rows: Vec<DeploymentRow> = sql::query_as(
        "SELECT p.* FROM deployments p JOIN commands c ON c.command_id = p.command_id \
         WHERE p.state IN ('queued', 'downloading', 'configuring') \
         AND ((p.state = 'queued' AND p.created_ms < $1) \
         OR c.state IN ('expired', 'superseded')) LIMIT $2",
    )
    .bind(ms(before))
    .bind(i64::from(most))
    .fetch_all(db)
    .await?;
    rows.into_iter().map(DeploymentRecord::try_from).collect()
}

/// Lists the deployments of a device, newest first.
pub(crate) async fn of_device(
    db: &mut Connection,
    device: DeviceId,
) -> Result<Vec<DeploymentRecord>, StoreError> {
    let rows: Vec<DeploymentRow> =
        sql::query_as("SELECT * FROM deployments WHERE device_id = $1 ORDER BY deployment_id DESC")
            .bind(device.to_string())
            .fetch_all(db)
            .await?;
    rows.into_iter().map(DeploymentRecord::try_from).collect()
}
