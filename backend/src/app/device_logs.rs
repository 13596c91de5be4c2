//! Reading the log records of a device.

use link_protocol::{backend_api::device_log::DeviceLog, id::DeviceId};

use crate::{
    app::App,
    auth::access::Identity,
    database::Page,
    domain::{device_log::LogFilter, ownership, refusal::Refusal},
    failure::AppError,
};

impl App {
    /// Lists the log records of a device of the caller's account, newest first.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], and [`Refusal::Invalid`] for an unknown cursor.
    pub async fn device_logs(
        &self,
        caller: Identity,
        device: DeviceId,
        filter: LogFilter,
        page: &Page,
    ) -> Result<Vec<DeviceLog>, AppError> {
        let device = ownership::own_device(self.store.device(device).await?, caller.account)?;
        if page.after.as_deref().is_some_and(|after| after.parse::<i64>().is_err()) {
            return Err(Refusal::invalid("cursor: is the `next_cursor` of the page before").into());
        }
        Ok(self.store.device_logs(device.id, filter, page).await?)
    }
}
