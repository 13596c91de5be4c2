//! Changes of devices that their owner makes.

use link_protocol::id::DeviceId;

use crate::{
    database::{Store, StoreError, write},
    domain::{audit::AuditRecord, device::DeviceRecord, refusal::Refusal},
    failure::Failure,
    tables::{audit, devices},
};

impl Store {
    /// Changes a device as `decide` says, and records it.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], and what `decide` refuses.
    pub async fn change_device_with(
        &self,
        id: DeviceId,
        entry: &AuditRecord,
        decide: impl Fn(&mut DeviceRecord) -> Result<(), Refusal> + Send + Sync,
    ) -> Result<(), Failure> {
        write!(self, |db| {
            let mut device = devices::find(db, id).await?.ok_or(StoreError::NotFound)?;
            decide(&mut device)?;
            devices::update(db, &device).await?;
            audit::insert(db, entry).await?;
        });
        Ok(())
    }
}
