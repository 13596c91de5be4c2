//! Deployments and their commands, each step in one transaction.

use jiff::Timestamp;
use link_protocol::{
    deployment::DeploymentState,
    envelope::ReceiptKind,
    id::{AccountId, CommandId, DeploymentId, DeviceId, ModelId},
    report::ProgressReport,
};

use crate::{
    app::placing::{made_before, place, remember},
    database::{Connection, Store, StoreError, write},
    domain::{
        audit::AuditRecord,
        cancel::cancel,
        claim::Once,
        deploy::{Made, NewDeployment},
        deployment::{self, DeploymentRecord},
        operation::Accepted,
        refusal::Refusal,
    },
    failure::AppError,
    tables::{audit, commands, deployments, locks},
};

/// Stores a deployment on a device of `owner` and its command, with the ids `ids`. If an older deployment of the same model is unfinished, it
/// is cancelled, if necessary by a command with the id `cancel`. `entry` is stored in the audit log, once for a request that is repeated.
///
/// # Errors
/// [`Refusal::NotFound`] if the device is not of `owner` any more, [`Refusal::AliasTaken`], [`Refusal::QueueFull`],
/// [`Refusal::IdempotencyConflict`], [`Refusal::ItemTaken`] and [`AppError::Store`].
pub(super) async fn deploy(
    store: &Store,
    owner: AccountId,
    made: &Made,
    ids: (DeploymentId, CommandId),
    once: Once<'_>,
    cancel: CommandId,
    entry: &AuditRecord,
) -> Result<DeploymentRecord, AppError> {
    let (device, now) = (made.wish.device_id, made.now);
    let held = [locks::model_kept(made.model.id), locks::device(device)];
    let record = write!(store, held, |db| {
        if let Some(made) = made_before(db, once).await? {
            let found = deployments::find_made(db, &made).await?;
            found.ok_or(Refusal::NotFound("deployment"))?
        } else {
            let before = deployments::of_device(db, device).await?;
            let NewDeployment { record, command } = made.deployment(ids, &before)?;
            if let Some(mut older) = deployment::unfinished(before, record.model) {
                make_way(db, &mut older, deployment::REPLACED, cancel, now).await?;
            }
            let key = format!("deploy:{}", record.id);
            place(db, record.command, (device, Some(owner)), &command, &key, now).await?;
            deployments::insert(db, &record).await?;
            remember(db, once, Accepted::Deployment(record.id, record.command), now).await?;
            audit::insert(db, entry).await?;
            record
        }
    });
    Ok(record)
}

/// Stores the deployment that restores a lost model on a device. The earlier deployment is marked as removed, so the
/// model is restored only once.
///
/// # Errors
/// As for [`deploy`].
pub(super) async fn give_back(
    store: &Store,
    owner: AccountId,
    made: &Made,
    ids: (DeploymentId, CommandId),
) -> Result<(), AppError> {
    let (device, now) = (made.wish.device_id, made.now);
    let held = [locks::model_kept(made.model.id), locks::device(device)];
    write!(store, held, |db| {
        let before = deployments::of_device(db, device).await?;
        let NewDeployment { record, command } = made.deployment(ids, &before)?;
        for gone in deployment::removed(before, record.model, now) {
            deployments::update(db, &gone).await?;
        }
        let key = format!("deploy:{}", record.id);
        place(db, record.command, (device, Some(owner)), &command, &key, now).await?;
        deployments::insert(db, &record).await?;
    });
    Ok(())
}

/// Cancels a deployment: at once if its command was never delivered, otherwise by a command with the id `cancel`.
///
/// # Errors
/// [`Refusal::NotFound`], [`Refusal::AlreadyFinal`], [`Refusal::QueueFull`] and [`AppError::Store`].
pub(super) async fn cancel_deployment(
    store: &Store,
    (id, device): (DeploymentId, DeviceId),
    cancel: CommandId,
    now: Timestamp,
) -> Result<(), AppError> {
    write!(store, [locks::device(device)], |db| {
        let found = deployments::find(db, id).await?;
        let mut record = found.ok_or(Refusal::NotFound("deployment"))?;
        match record.state {
            DeploymentState::Completed => {
                return Err(Refusal::AlreadyFinal(record.state).into());
            }
            DeploymentState::Failed | DeploymentState::Cancelled => {
                dismiss(db, record, now).await?;
            }
            DeploymentState::Queued
            | DeploymentState::Downloading
            | DeploymentState::Configuring => {
                make_way(db, &mut record, "cancelled by the user", cancel, now).await?;
            }
        }
    });
    Ok(())
}

/// Notes that a person has seen the end of a deployment that has put nothing on its device. The deployment by which the
/// model is there, if there is one, becomes the current one again.
async fn dismiss(
    db: &mut Connection,
    record: DeploymentRecord,
    now: Timestamp,
) -> Result<(), AppError> {
    let all = deployments::of_device(db, record.device).await?;
    if let Some(effective) = deployment::effective_behind(&all, &record) {
        deployments::make_current(db, effective).await?;
    }
    let seen = DeploymentRecord { removed: true, updated_at: now, ..record };
    Ok(deployments::update(db, &seen).await?)
}

/// Applies a progress report for a deployment. The report also counts as a receipt, in case the receipt was lost. If
/// the command has expired, nothing changes.
///
/// # Errors
/// [`Refusal::NotFound`] and [`AppError::Store`].
pub(super) async fn advance(
    store: &Store,
    device: DeviceId,
    model: ModelId,
    report: &ProgressReport,
    now: Timestamp,
) -> Result<(), AppError> {
    write!(store, [locks::device(device)], |db| {
        let found = match report.deployment_id {
            Some(id) => deployments::find(db, id).await?,
            None => deployment::reported(deployments::of_device(db, device).await?, model),
        };
        let found = found.filter(|record| record.device == device);
        let mut record = found.ok_or(Refusal::NotFound("deployment"))?;
        let command = commands::find(db, device, record.command).await?;
        if let Some(mut command) = command
            && command.receipt(ReceiptKind::Stored, now).is_ok()
        {
            commands::update(db, &command).await?;
            if record.model == model {
                record.progress(report, now);
            }
            deployments::update(db, &record).await?;
        }
    });
    Ok(())
}

/// Ends an unfinished deployment, or asks the device to end it with a command of the id `id`.
pub(super) async fn make_way(
    db: &mut Connection,
    record: &mut DeploymentRecord,
    reason: &str,
    id: CommandId,
    now: Timestamp,
) -> Result<(), AppError> {
    let mut command = commands::find(db, record.device, record.command).await?;
    if let Some(wish) = cancel(record, command.as_mut(), reason, now) {
        let key = format!("cancel:{}", record.id);
        place(db, id, (record.device, None), &wish, &key, now).await?;
        return Ok(());
    }
    if let Some(command) = &command {
        commands::update(db, command).await?;
    }
    Ok(store_ended(db, record.clone()).await?)
}

/// Stores a deployment that has ended. If it has failed or was cancelled, it gets the values in force on the device.
pub(super) async fn store_ended(
    db: &mut Connection,
    record: DeploymentRecord,
) -> Result<(), StoreError> {
    let all = deployments::of_device(db, record.device).await?;
    deployments::update(db, &record.as_in_force(&all)).await
}
