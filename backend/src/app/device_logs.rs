//! Reading the log records of a device.

use link_protocol::{backend_api::device_log::DeviceLog, id::DeviceId};

use crate::{
    app::App,
    auth::access::Identity,
    database::Page,
    domain::{device_log::LogFilter, ownership},
    failure::AppError,
};

impl App {
    /// Lists the log records of a device of the caller's account, newest first.
    ///
    /// # Errors
    /// [`Refusal::NotFound`](crate::domain::refusal::Refusal::NotFound).
    pub async fn device_logs(
        &self,
        caller: Identity,
        device: DeviceId,
        filter: LogFilter,
        page: &Page,
    ) -> Result<Vec<DeviceLog>, AppError> {
        let device = ownership::own_device(self.store.device(device).await?, caller.account)?;
        Ok(self.store.device_logs(device.id, filter, page).await?)
    }
}
