//! Who may do what with a device and a model (specification, sections 4.1 and 5).
//!
//! What another account owns is not found rather than forbidden, so that nothing tells which ids
//! exist; only a model that stands on the caller's own device is known to them anyway.

use link_protocol::{id::AccountId, report::LifecycleStatus};

use crate::domain::{device::DeviceRecord, model::ModelRecord, refusal::Refusal};

/// What is known about the device and the model that a request names.
#[derive(Clone, Debug)]
pub struct Pair {
    pub device: Option<DeviceRecord>,
    pub model: Option<ModelRecord>,
    /// Whether the model was ever deployed to a device of the caller.
    pub known_to_caller: bool,
    /// Whether the model is on the device.
    pub is_deployed: bool,
}

/// Returns `device` when `caller` owns it.
///
/// # Errors
/// [`Refusal::NotFound`] otherwise.
pub fn own_device(
    device: Option<DeviceRecord>,
    caller: AccountId,
) -> Result<DeviceRecord, Refusal> {
    device.filter(|device| device.account == caller).ok_or(Refusal::NotFound("device"))
}

/// Returns `device` when `caller` owns it and it can be sent a command, now or when it is back.
///
/// # Errors
/// [`Refusal::NotFound`] otherwise, also when the device has deregistered itself.
pub fn reachable_device(
    device: Option<DeviceRecord>,
    caller: AccountId,
) -> Result<DeviceRecord, Refusal> {
    let device = own_device(device, caller)?;
    match device.status {
        LifecycleStatus::Deregistered => Err(Refusal::NotFound("device")),
        LifecycleStatus::Starting
        | LifecycleStatus::Online
        | LifecycleStatus::Updating
        | LifecycleStatus::Stopping => Ok(device),
    }
}

/// Returns `model` when `caller` owns it or it is shared.
///
/// # Errors
/// [`Refusal::NotFound`] otherwise.
pub fn usable_model(model: Option<ModelRecord>, caller: AccountId) -> Result<ModelRecord, Refusal> {
    model.filter(|model| model.is_usable_by(caller)).ok_or(Refusal::NotFound("model"))
}

/// Returns `model` when `caller` owns it.
///
/// # Errors
/// [`Refusal::NotOwner`] for a shared model of another account, [`Refusal::NotFound`] otherwise.
pub fn own_model(model: Option<ModelRecord>, caller: AccountId) -> Result<ModelRecord, Refusal> {
    let model = usable_model(model, caller)?;
    if model.account == caller { Ok(model) } else { Err(Refusal::NotOwner) }
}

impl Pair {
    /// Returns both when `caller` owns the device and owns the model or may use it as shared.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for what the caller may not see, [`Refusal::NotOwner`] for a model
    /// that stands on the caller's own device without being theirs or shared.
    pub fn owned(self, caller: AccountId) -> Result<(DeviceRecord, ModelRecord), Refusal> {
        let device = own_device(self.device, caller)?;
        let model = self.model.ok_or(Refusal::NotFound("model"))?;
        if model.is_usable_by(caller) {
            Ok((device, model))
        } else if self.known_to_caller {
            Err(Refusal::NotOwner)
        } else {
            Err(Refusal::NotFound("model"))
        }
    }

    /// Returns both when `caller` owns the device and can see the model: enough to stop and to
    /// remove it.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for what the caller may not see.
    pub fn seen(self, caller: AccountId) -> Result<(DeviceRecord, ModelRecord), Refusal> {
        let device = own_device(self.device, caller)?;
        let known = self.known_to_caller;
        let model = self.model.filter(|model| known || model.is_usable_by(caller));
        Ok((device, model.ok_or(Refusal::NotFound("model"))?))
    }
}
