//! Devices of the account.

use link_protocol::{
    agent_api::PREFIX,
    backend_api::{
        command::CommandInfo,
        device::{Device, TransferDevice, UpdateDevice},
    },
    id::DeviceId,
    retire::{RETIRE_PATH, RetireCode, RetireRequest},
};

use crate::{
    backend::{BackendClient, CallError},
    http::{Call, Failure, Http},
};

/// Removes the device that signed the retire code `code`. Needs no login.
///
/// # Errors
/// [`Failure`], for example if the device is already removed or has registered again.
pub async fn retire_device(http: &Http, code: &RetireCode) -> Result<(), Failure> {
    http.call_for_status(Call::post(RETIRE_PATH).json(&RetireRequest::from(code))).await
}

impl BackendClient {
    /// Returns every device of the account.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn devices(&self) -> Result<Vec<Device>, CallError> {
        self.all(&format!("{PREFIX}/devices")).await
    }

    /// Returns one device.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn device(&self, device: DeviceId) -> Result<Device, CallError> {
        self.call(|| Call::get(format!("{PREFIX}/devices/{device}"))).await
    }

    /// Requests an update of a device's agent to another version. Calls with the same
    /// `idempotency_key` create one command.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn update_device(
        &self,
        device: DeviceId,
        wish: &UpdateDevice,
        idempotency_key: &str,
    ) -> Result<CommandInfo, CallError> {
        self.call(|| {
            Call::post(format!("{PREFIX}/devices/{device}/update"))
                .header("idempotency-key", idempotency_key)
                .json(wish)
        })
        .await
    }

    /// Removes a device and frees its slot in the device limit.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn remove_device(&self, device: DeviceId) -> Result<(), CallError> {
        self.call_for_status(|| Call::delete(format!("{PREFIX}/devices/{device}"))).await
    }

    /// Transfers a device to the account of the key in `wish`.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn transfer_device(
        &self,
        device: DeviceId,
        wish: &TransferDevice,
    ) -> Result<(), CallError> {
        let path = format!("{PREFIX}/devices/{device}/transfer");
        self.call_for_status(|| Call::post(path.clone()).json(wish)).await
    }
}
