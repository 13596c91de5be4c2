//! Names to show beside ids in a table.
//!
//! If the caller may not read a list, its ids are shown without names.

use std::collections::HashMap;

use link_client::backend::BackendClient;

use crate::output::Cell;

/// Names by id.
#[derive(Debug, Default)]
pub(crate) struct Names(HashMap<String, String>);

impl Names {
    /// Reads the names of the account's devices.
    pub(crate) async fn of_devices(backend: &BackendClient) -> Self {
        let mut names = Self::default();
        names.add_devices(backend).await;
        names
    }

    /// Reads the e-mails of the account's members.
    pub(crate) async fn of_members(backend: &BackendClient) -> Self {
        let mut names = Self::default();
        names.add_members(backend).await;
        names
    }

    /// Reads the names of devices, members and models.
    pub(crate) async fn of_all(backend: &BackendClient) -> Self {
        let mut names = Self::default();
        names.add_devices(backend).await;
        names.add_members(backend).await;
        let models = backend.models().await.unwrap_or_default();
        names.0.extend(models.into_iter().map(|model| (model.model_id.to_string(), model.name)));
        names
    }

    /// Returns the table cell for an id.
    pub(crate) fn cell(&self, id: impl ToString) -> Cell {
        let id = id.to_string();
        let name = self.0.get(&id).cloned();
        Cell::Named { id, name }
    }

    async fn add_devices(&mut self, backend: &BackendClient) {
        let devices = backend.devices().await.unwrap_or_default();
        self.0.extend(devices.into_iter().map(|it| (it.device_id.to_string(), it.name)));
    }

    async fn add_members(&mut self, backend: &BackendClient) {
        let members = backend.members().await.unwrap_or_default();
        self.0.extend(members.into_iter().map(|it| (it.user_id.to_string(), it.email)));
    }
}
