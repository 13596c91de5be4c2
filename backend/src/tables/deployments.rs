//! Deployments, each with its command in one transaction.

mod deployed;
mod row;

pub(crate) use row::update;

use jiff::Timestamp;
use link_protocol::{
    account_name::AccountName,
    command::{CancelDeploy, Command},
    deployment::DeploymentState,
    envelope::ReceiptKind,
    id::{AccountId, CommandId, DeploymentId, DeviceId, ModelId},
    report::{CommandReport, ModelReport},
};

use crate::{
    database::{
        Connection, Page, Store, StoreError,
        column::{ms, parse},
        read, sql, write,
    },
    domain::{
        deployment::{self, DeploymentRecord},
        outcome::Consequence,
        refusal::Refusal,
    },
    failure::Failure,
    tables::{
        Claim, commands,
        deployments::row::{DeploymentRow, ViewRow, insert},
        idempotency,
    },
};

/// A deployment that is to be stored, with the command that carries it out.
#[derive(Clone, Debug)]
pub struct NewDeployment {
    pub record: DeploymentRecord,
    pub command: Command,
}

/// A deployment and what stands beside it.
#[derive(Clone, Debug)]
pub struct DeploymentView {
    pub record: DeploymentRecord,
    /// The account whose model it is.
    pub publisher: AccountName,
    /// The newest for its model and device.
    pub current: bool,
    /// What the device last reported of the model.
    pub serving: Option<ModelReport>,
}

/// Which deployments are asked for.
#[derive(Clone, Debug, Default)]
pub struct DeploymentFilter {
    pub device: Option<DeviceId>,
    pub model: Option<ModelId>,
}

impl Store {
    /// Stores a deployment and its command. `make` is given the device's deployments, the newest
    /// first, and decides; an unfinished one of the same model makes way, which `cancel` is the
    /// command for.
    ///
    /// # Errors
    /// What `make` refuses, [`Refusal::QueueFull`], [`Refusal::IdempotencyConflict`] and
    /// [`StoreError`].
    pub async fn deploy(
        &self,
        device: DeviceId,
        claim: Option<&Claim>,
        cancel: CommandId,
        now: Timestamp,
        make: impl Fn(&[DeploymentRecord]) -> Result<NewDeployment, Refusal> + Send + Sync,
    ) -> Result<DeploymentRecord, Failure> {
        let record = write!(self, |db| {
            if let Some(made) = idempotency::made_before(db, claim).await? {
                let id = parse(&made)?;
                find(db, id).await?.ok_or(Refusal::NotFound("deployment"))?
            } else {
                let before = of_device(db, device).await?;
                let NewDeployment { record, command } = make(&before)?;
                let unfinished = before
                    .into_iter()
                    .find(|older| older.model == record.model && !older.state.is_final());
                if let Some(mut older) = unfinished {
                    make_way(db, &mut older, deployment::REPLACED, cancel, now).await?;
                }
                let key = format!("deploy:{}", record.id);
                commands::place(db, record.command, device, &command, &key, now).await?;
                insert(db, &record).await?;
                idempotency::remember(db, claim, &record.id.to_string(), now).await?;
                record
            }
        });
        Ok(record)
    }

    /// Cancels a deployment: at once when it was never delivered, else by the command `cancel`.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::AlreadyFinal`], [`Refusal::QueueFull`], [`StoreError`].
    pub async fn cancel_deployment(
        &self,
        id: DeploymentId,
        cancel: CommandId,
        now: Timestamp,
    ) -> Result<DeploymentRecord, Failure> {
        let record = write!(self, |db| {
            let found = find(db, id).await?;
            let mut record = found.ok_or(Refusal::NotFound("deployment"))?;
            match record.state {
                DeploymentState::Completed => {
                    return Err(Refusal::AlreadyFinal(record.state).into());
                }
                // The user has seen it.
                DeploymentState::Failed | DeploymentState::Cancelled => {}
                DeploymentState::Queued
                | DeploymentState::Downloading
                | DeploymentState::Configuring => {
                    make_way(db, &mut record, "cancelled by the user", cancel, now).await?;
                }
            }
            record
        });
        Ok(record)
    }

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
                "SELECT p.*, p.deployment_id = (SELECT MAX(n.deployment_id) FROM deployments n \
                 WHERE n.device_id = p.device_id AND n.model_id = p.model_id) AS current, \
                 s.report AS serving, a.name AS publisher FROM deployments p \
                 JOIN devices d ON d.device_id = p.device_id \
                 JOIN models o ON o.model_id = p.model_id \
                 JOIN accounts a ON a.account_id = o.account_id \
                 LEFT JOIN model_states s \
                 ON s.device_id = p.device_id AND s.model_id = p.model_id \
                 WHERE d.account_id = $1 AND p.deployment_id = $2",
            )
            .bind(account.to_string())
            .bind(id.to_string())
            .fetch_optional(pool)
            .await?
        });
        row.map(DeploymentView::try_from).transpose()
    }

    /// Lists the deployments on an account's devices, the newest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn deployments(
        &self,
        account: AccountId,
        filter: &DeploymentFilter,
        page: &Page,
    ) -> Result<Vec<DeploymentView>, StoreError> {
        let rows: Vec<ViewRow> = read!(self, |pool| {
            sql::query_as(
                "SELECT p.*, p.deployment_id = (SELECT MAX(n.deployment_id) FROM deployments n \
                 WHERE n.device_id = p.device_id AND n.model_id = p.model_id) AS current, \
                 s.report AS serving, a.name AS publisher FROM deployments p \
                 JOIN devices d ON d.device_id = p.device_id \
                 JOIN models o ON o.model_id = p.model_id \
                 JOIN accounts a ON a.account_id = o.account_id \
                 LEFT JOIN model_states s \
                 ON s.device_id = p.device_id AND s.model_id = p.model_id \
                 WHERE d.account_id = $1 AND ($2 IS NULL OR p.device_id = $2) \
                 AND ($3 IS NULL OR p.model_id = $3) AND ($4 IS NULL OR p.deployment_id < $4) \
                 ORDER BY p.deployment_id DESC LIMIT $5",
            )
            .bind(account.to_string())
            .bind(filter.device.map(|id| id.to_string()))
            .bind(filter.model.map(|id| id.to_string()))
            .bind(&page.after)
            .bind(i64::from(page.limit))
            .at_length()
            .fetch_all(pool)
            .await?
        });
        rows.into_iter().map(DeploymentView::try_from).collect()
    }

    /// Tells whether a device is meant to have a model's file.
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

    /// Changes a deployment that its device works on. That stands for a receipt which was lost; a
    /// command that is not awaited any more changes nothing.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn advance_deployment(
        &self,
        device: DeviceId,
        id: DeploymentId,
        now: Timestamp,
        change: impl Fn(&mut DeploymentRecord) + Send + Sync,
    ) -> Result<(), StoreError> {
        write!(self, |db| {
            let found = find(db, id).await?.filter(|record| record.device == device);
            let mut record = found.ok_or(StoreError::NotFound)?;
            let command = commands::find(db, device, record.command).await?;
            if let Some(mut command) = command
                && command.receipt(ReceiptKind::Stored, now).is_ok()
            {
                commands::update(db, &command).await?;
                change(&mut record);
                update(db, &record).await?;
            }
        });
        Ok(())
    }
}

/// Applies what follows from the result of a command.
pub(crate) async fn follow(
    db: &mut Connection,
    device: DeviceId,
    consequence: &Consequence,
    report: &CommandReport,
    now: Timestamp,
) -> Result<(), StoreError> {
    match consequence {
        Consequence::Nothing => {}
        Consequence::Ends(id) => {
            let found = find(db, *id).await?.filter(|record| record.device == device);
            if let Some(mut record) = found
                && record.result(report.status, &report.output, now)
            {
                update(db, &record).await?;
            }
        }
        Consequence::Carries { model, allowlist, port } => {
            for mut record in on_device(db, device, *model).await?.into_iter().take(1) {
                if let Some(allowlist) = allowlist {
                    record.allowlist = allowlist.clone();
                }
                record.port = port.unwrap_or(record.port);
                record.updated_at = now;
                update(db, &record).await?;
            }
        }
        Consequence::Removed(model) => remove(db, device, *model, now).await?,
    }
    Ok(())
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

/// Notes that a model is not on a device any more.
pub(crate) async fn remove(
    db: &mut Connection,
    device: DeviceId,
    model: ModelId,
    now: Timestamp,
) -> Result<(), StoreError> {
    for mut record in on_device(db, device, model).await? {
        record.removed = true;
        record.updated_at = now;
        update(db, &record).await?;
    }
    Ok(())
}

/// Ends an unfinished deployment, or asks the device to.
pub(crate) async fn make_way(
    db: &mut Connection,
    record: &mut DeploymentRecord,
    reason: &str,
    cancel: CommandId,
    now: Timestamp,
) -> Result<(), Failure> {
    let command = commands::find(db, record.device, record.command).await?;
    let untouched = command.filter(|command| command.is_open() && command.attempt == 0);
    if let Some(mut command) = untouched {
        command.supersede(None, now);
        commands::update(db, &command).await?;
        record.end(DeploymentState::Cancelled, Some(reason), now);
        update(db, record).await?;
        return Ok(());
    }
    let wish = CancelDeploy { deployment_id: record.id, model_id: record.model };
    let key = format!("cancel:{}", record.id);
    let wish = Command::CancelDeploy(wish);
    commands::place(db, cancel, record.device, &wish, &key, now).await?;
    Ok(())
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

/// Lists the queued deployments that are too old, and those under way whose command is over.
pub(crate) async fn stuck(
    db: &mut Connection,
    before: Timestamp,
) -> Result<Vec<DeploymentRecord>, StoreError> {
    let rows: Vec<DeploymentRow> = sql::query_as(
        "SELECT p.* FROM deployments p JOIN commands c ON c.command_id = p.command_id \
         WHERE (p.state = 'queued' AND p.created_ms < $1) \
         OR (p.state IN ('queued', 'downloading', 'configuring') \
             AND c.state IN ('expired', 'superseded'))",
    )
    .bind(ms(before))
    .fetch_all(db)
    .await?;
    rows.into_iter().map(DeploymentRecord::try_from).collect()
}

async fn of_device(
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

/// The deployments by which a model is on a device, the newest first.
async fn on_device(
    db: &mut Connection,
    device: DeviceId,
    model: ModelId,
) -> Result<Vec<DeploymentRecord>, StoreError> {
    let all = of_device(db, device).await?;
    Ok(all.into_iter().filter(|record| record.model == model && record.is_deployed()).collect())
}
