//! Operations on many devices.

use link_protocol::{
    agent_api::PREFIX,
    backend_api::{
        Page,
        operation::{CreateOperation, ItemState, Operation, OperationDevice, OperationPlan},
    },
    id::OperationId,
    limits,
};

use crate::{
    backend::{BackendClient, CallError, query_value},
    http::Call,
};

impl BackendClient {
    /// Starts an operation. Calls with the same `idempotency_key` start one operation.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn create_operation(
        &self,
        wish: &CreateOperation,
        idempotency_key: &str,
    ) -> Result<Operation, CallError> {
        self.call(|| {
            Call::post(format!("{PREFIX}/operations"))
                .header("idempotency-key", idempotency_key)
                .json(wish)
        })
        .await
    }

    /// Returns the devices on which an operation would run, without starting it.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn plan_operation(&self, wish: &CreateOperation) -> Result<OperationPlan, CallError> {
        let wish = CreateOperation { dry_run: true, ..wish.clone() };
        self.call(|| Call::post(format!("{PREFIX}/operations")).json(&wish)).await
    }

    /// Returns at most `most` operations of the account, newest first.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn operations(&self, most: usize) -> Result<Vec<Operation>, CallError> {
        let size = u32::try_from(most).unwrap_or(u32::MAX).clamp(1, limits::PAGE_SIZE_LIMIT);
        let first = format!("{PREFIX}/operations?limit={size}");
        let mut page: Page<Operation> = self.call(|| Call::get(&first)).await?;
        let mut operations = page.items;
        while let Some(cursor) = page.next_cursor.filter(|_| operations.len() < most) {
            let next = format!("{first}&cursor={}", query_value(&cursor));
            page = self.call(|| Call::get(&next)).await?;
            operations.append(&mut page.items);
        }
        operations.truncate(most);
        Ok(operations)
    }

    /// Returns an operation.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn operation(&self, operation: OperationId) -> Result<Operation, CallError> {
        self.call(|| Call::get(format!("{PREFIX}/operations/{operation}"))).await
    }

    /// Returns the result of an operation on each of its devices, or on those in one state.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn operation_devices(
        &self,
        operation: OperationId,
        state: Option<ItemState>,
    ) -> Result<Vec<OperationDevice>, CallError> {
        let state = state.map(|state| format!("?state={state}")).unwrap_or_default();
        self.all(&format!("{PREFIX}/operations/{operation}/devices{state}")).await
    }

    /// Cancels an operation. Devices that already have their command continue.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn cancel_operation(&self, operation: OperationId) -> Result<Operation, CallError> {
        self.call(|| Call::post(format!("{PREFIX}/operations/{operation}/cancel"))).await
    }

    /// Retries an operation on the devices that failed.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn retry_operation(&self, operation: OperationId) -> Result<Operation, CallError> {
        self.call(|| Call::post(format!("{PREFIX}/operations/{operation}/retry"))).await
    }
}
