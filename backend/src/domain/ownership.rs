//! Who may do what with a device and a model (specification, sections 4.1 and 5).
//!
//! For a record of another account the answer is "not found" instead of "forbidden", so that no answer reveals which
//! ids exist. A caller can see only models that are on the caller's own devices, shared, or the caller's own. A
//! deployed model stays usable on its device after its publisher stops sharing it.

use link_protocol::{id::AccountId, report::LifecycleStatus};

use crate::domain::{
    device::DeviceRecord, model::ModelRecord, refusal::Refusal, sharing::Publishers,
};

/// The device and the model that a request names.
#[derive(Clone, Debug)]
pub struct Pair {
    pub device: Option<DeviceRecord>,
    pub model: Option<ModelRecord>,
    /// Whether the model was ever deployed to a device of the caller.
    pub known_to_caller: bool,
    /// Whether the model is on the device.
    pub is_deployed: bool,
}

/// Returns `device` if `caller` owns it.
///
/// # Errors
/// [`Refusal::NotFound`] otherwise.
pub fn own_device(
    device: Option<DeviceRecord>,
    caller: AccountId,
) -> Result<DeviceRecord, Refusal> {
    device.filter(|device| device.account == caller).ok_or(Refusal::NotFound("device"))
}

/// Returns `device` if `caller` owns it and commands can reach it, now or once it is online again.
///
/// # Errors
/// [`Refusal::NotFound`] otherwise, also if the device has deregistered itself.
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

/// Returns `model` if `caller` can see it: the caller owns it, it is shared, or it `is_deployed` on a device of the
/// caller.
///
/// # Errors
/// [`Refusal::NotFound`] otherwise.
pub fn visible_model(
    model: Option<ModelRecord>,
    is_deployed: bool,
    caller: AccountId,
    publishers: &Publishers,
) -> Result<ModelRecord, Refusal> {
    let sees = |model: &ModelRecord| is_deployed || model.is_usable_by(caller, publishers);
    model.filter(sees).ok_or(Refusal::NotFound("model"))
}

/// Returns `model` if `caller`, who can see it, also owns it.
///
/// # Errors
/// [`Refusal::NotOwner`] otherwise.
pub fn own_model(model: ModelRecord, caller: AccountId) -> Result<ModelRecord, Refusal> {
    if model.account == caller { Ok(model) } else { Err(Refusal::NotOwner) }
}

impl Pair {
    /// Returns the device and the model if `caller` may deploy the model to the device, or repair it there: the caller owns
    /// the device, and owns the model or may use it as a shared model.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if the caller may not see the device or the model. [`Refusal::NoLongerShared`] if the model
    /// was deployed to a device of the caller and is neither shared nor the caller's.
    pub fn deployable(
        self,
        caller: AccountId,
        publishers: &Publishers,
    ) -> Result<(DeviceRecord, ModelRecord), Refusal> {
        self.checked(caller, |model| model.is_usable_by(caller, publishers))
    }

    /// Returns the device and the model if `caller` may serve the model on the device: the caller may deploy it, or it is
    /// deployed there although it is not shared any more.
    ///
    /// # Errors
    /// As for [`Pair::deployable`].
    pub fn operable(
        self,
        caller: AccountId,
        publishers: &Publishers,
    ) -> Result<(DeviceRecord, ModelRecord), Refusal> {
        let is_deployed = self.is_deployed;
        self.checked(caller, |model| is_deployed || model.is_usable_by(caller, publishers))
    }

    /// Returns the device and the model if `caller` owns the device and can see the model. This is enough to stop and
    /// to remove the model.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if the caller may not see the device or the model.
    pub fn seen(
        self,
        caller: AccountId,
        publishers: &Publishers,
    ) -> Result<(DeviceRecord, ModelRecord), Refusal> {
        let device = own_device(self.device, caller)?;
        let model = visible_model(self.model, self.known_to_caller, caller, publishers)?;
        Ok((device, model))
    }

    fn checked(
        self,
        caller: AccountId,
        may: impl FnOnce(&ModelRecord) -> bool,
    ) -> Result<(DeviceRecord, ModelRecord), Refusal> {
        let device = own_device(self.device, caller)?;
        let model = self.model.ok_or(Refusal::NotFound("model"))?;
        if may(&model) {
            Ok((device, model))
        } else if self.known_to_caller {
            Err(Refusal::NoLongerShared)
        } else {
            Err(Refusal::NotFound("model"))
        }
    }
}
