//! What devices report.

use link_protocol::{
    id::{CommandId, ModelId},
    report::{
        CommandReport, LifecycleReport, LogRecord, ModelReport, ProgressReport, TelemetryReport,
    },
    system::SystemReport,
};

use crate::{
    app::{App, deploying, queue},
    database::{StoreError, write},
    domain::{device::DeviceRecord, refusal::Refusal},
    failure::Failure,
    tables::{devices, locks},
};

/// Characters of a log message that are kept.
const LONGEST_MESSAGE: usize = 8 * 1024;
/// Characters of a category that are kept.
const LONGEST_CATEGORY: usize = 100;

impl App {
    /// Notes the lifecycle of a device.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn report_lifecycle(
        &self,
        device: &DeviceRecord,
        report: LifecycleReport,
    ) -> Result<(), Failure> {
        write!(self.store, [locks::device(device.id)], |db| {
            let mut stored = devices::find(db, device.id).await?.ok_or(StoreError::NotFound)?;
            stored.report(report.clone());
            devices::update(db, &stored).await?;
        });
        Ok(())
    }

    /// Notes the result of a command, and what follows from it.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::CommandExpired`].
    pub async fn report_command(
        &self,
        device: &DeviceRecord,
        id: CommandId,
        report: CommandReport,
    ) -> Result<(), Failure> {
        if report.command_id != id {
            return Err(Refusal::invalid("command_id: is the one of the path").into());
        }
        queue::take_result(&self.store, device.id, &report, self.now()).await?;
        self.ring_command(id);
        Ok(())
    }

    /// Notes the state of a model; an older state never replaces a newer one.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] when path and body name two models.
    pub async fn report_model(
        &self,
        device: &DeviceRecord,
        model: ModelId,
        report: ModelReport,
    ) -> Result<(), Failure> {
        check_model(model, report.model_id)?;
        Ok(self.store.model_state(device.id, device.epoch, &report, self.now()).await?)
    }

    /// Notes the progress of a deployment; what comes late is ignored.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn report_progress(
        &self,
        device: &DeviceRecord,
        model: ModelId,
        report: ProgressReport,
    ) -> Result<(), Failure> {
        deploying::advance(&self.store, device.id, model, &report, self.now()).await
    }

    /// Keeps token usage.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] when path and body name two models.
    pub async fn report_telemetry(
        &self,
        device: &DeviceRecord,
        model: ModelId,
        report: TelemetryReport,
    ) -> Result<(), Failure> {
        check_model(model, report.model_id)?;
        Ok(self.store.telemetry(device.id, &report, self.config.telemetry_kept, self.now()).await?)
    }

    /// Keeps a sample of the device itself, in the place of the one before.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn report_system(
        &self,
        device: &DeviceRecord,
        report: SystemReport,
    ) -> Result<(), Failure> {
        Ok(self.store.keep_system(device.id, &report.bounded(), self.now()).await?)
    }

    /// Keeps a log record, shortened when it is too long.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn report_log(
        &self,
        device: &DeviceRecord,
        mut record: LogRecord,
    ) -> Result<(), Failure> {
        record.message = record.message.chars().take(LONGEST_MESSAGE).collect();
        record.category = record.category.chars().take(LONGEST_CATEGORY).collect();
        Ok(self.store.log(device.id, &record, self.config.logs_kept, self.now()).await?)
    }
}

fn check_model(path: ModelId, body: ModelId) -> Result<(), Refusal> {
    if path == body { Ok(()) } else { Err(Refusal::invalid("model_id: is the one of the path")) }
}
