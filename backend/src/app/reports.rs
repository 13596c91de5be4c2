//! The reports of devices.

use jiff::Timestamp;
use link_protocol::{
    counter::Epoch,
    id::{CommandId, DeviceId, ModelId},
    report::{
        CommandReport, LifecycleReport, LogRecord, ModelReport, ModelState, ProgressReport,
        TelemetryReport,
    },
    system::SystemReport,
};

use crate::{
    app::{App, deploying, queue},
    database::{Connection, Store, StoreError, lock::Lock, write},
    domain::{deployment, device::DeviceRecord, model_state, refusal::Refusal},
    failure::AppError,
    tables::{deployments, devices, locks, reports},
};

/// The maximum length of a log message, in characters. The rest is cut off.
const LONGEST_MESSAGE: usize = 8 * 1024;
/// The maximum length of a category, in characters.
const LONGEST_CATEGORY: usize = 100;

impl App {
    /// Stores a lifecycle report of a device.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn report_lifecycle(
        &self,
        device: &DeviceRecord,
        report: LifecycleReport,
    ) -> Result<(), AppError> {
        write!(self.store, [locks::device(device.id)], |db| {
            let mut stored = devices::find(db, device.id).await?.ok_or(StoreError::NotFound)?;
            stored.report(report.clone());
            devices::update(db, &stored).await?;
        });
        Ok(())
    }

    /// Stores the result of a command and applies its consequences.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::CommandExpired`].
    pub async fn report_command(
        &self,
        device: &DeviceRecord,
        id: CommandId,
        report: CommandReport,
    ) -> Result<(), AppError> {
        if report.command_id != id {
            return Err(Refusal::invalid("command_id: is the one of the path").into());
        }
        queue::take_result(&self.store, device.id, &report, self.now()).await?;
        self.ring_command(id);
        Ok(())
    }

    /// Stores the state of a model. An older state never replaces a newer one.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if the path and the body name different models.
    pub async fn report_model(
        &self,
        device: &DeviceRecord,
        model: ModelId,
        report: ModelReport,
    ) -> Result<(), AppError> {
        check_model(model, report.model_id)?;
        let (epoch, now) = (device.epoch, self.now());
        let held = [locks::model_kept(model), locks::device(device.id)];
        write!(self.store, held, |db| {
            let stored = reports::reported(db, device.id, model).await?;
            if model_state::takes_place(stored, epoch, report.generation) {
                set(db, device.id, epoch, &report, now).await?;
            }
        });
        Ok(())
    }

    /// Stores the progress of a deployment. Late reports are ignored.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn report_progress(
        &self,
        device: &DeviceRecord,
        model: ModelId,
        report: ProgressReport,
    ) -> Result<(), AppError> {
        deploying::advance(&self.store, device.id, model, &report, self.now()).await
    }

    /// Stores token usage. Usage of a model that was never deployed on the device counts under no model: after the deletion
    /// of a model or after a restore, such a report is honest.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if the path and the body name different models.
    pub async fn report_telemetry(
        &self,
        device: &DeviceRecord,
        model: ModelId,
        report: TelemetryReport,
    ) -> Result<(), AppError> {
        check_model(model, report.model_id)?;
        Ok(self.store.telemetry(device.id, &report, self.config.telemetry_kept, self.now()).await?)
    }

    /// Stores a system sample of the device in place of the previous one.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn report_system(
        &self,
        device: &DeviceRecord,
        report: SystemReport,
    ) -> Result<(), AppError> {
        Ok(self.store.keep_system(device.id, &report.bounded(), self.now()).await?)
    }

    /// Stores a log record. A long record is shortened.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn report_log(
        &self,
        device: &DeviceRecord,
        mut record: LogRecord,
    ) -> Result<(), AppError> {
        record.message = record.message.chars().take(LONGEST_MESSAGE).collect();
        record.category = record.category.chars().take(LONGEST_CATEGORY).collect();
        Ok(self.store.log(device.id, &record, self.config.logs_kept, self.now()).await?)
    }
}

fn check_model(path: ModelId, body: ModelId) -> Result<(), Refusal> {
    if path == body { Ok(()) } else { Err(Refusal::invalid("model_id: is the one of the path")) }
}

/// Stores the list of models that a device sends at the start of a connection: the device has exactly these models,
/// whatever was stored before. The deployments of other models stay unchanged, because the device repeats the report of
/// a removal.
///
/// # Errors
/// [`StoreError`].
pub(super) async fn greet_serving(
    store: &Store,
    device: DeviceId,
    epoch: Epoch,
    listed: &[ModelReport],
    now: Timestamp,
) -> Result<(), StoreError> {
    let models = listed.iter().map(|report| locks::model_kept(report.model_id));
    let held: Vec<Lock> = models.chain([locks::device(device)]).collect();
    write!(store, held, |db| {
        let stored = reports::states(db, device).await?;
        for gone in model_state::gone(stored, listed) {
            reports::set(db, device, epoch, &gone, now).await?;
        }
        for report in listed {
            set(db, device, epoch, report, now).await?;
        }
    });
    Ok(())
}

/// Stores the state of a model. If the model was removed from the device, its deployments are marked as removed. The
/// state of an unknown model is ignored, because the model was deleted.
async fn set(
    db: &mut Connection,
    device: DeviceId,
    epoch: Epoch,
    report: &ModelReport,
    now: Timestamp,
) -> Result<(), StoreError> {
    if !reports::is_known(db, report.model_id).await? {
        return Ok(());
    }
    reports::set(db, device, epoch, report, now).await?;
    if report.state == ModelState::Removed {
        let all = deployments::of_device(db, device).await?;
        for gone in deployment::removed(all, report.model_id, now) {
            deployments::update(db, &gone).await?;
        }
    }
    Ok(())
}
