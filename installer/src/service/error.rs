//! Why a service could not be changed.

use std::io;

use crate::{decide::service::Manager, versions::ChangeError};

/// The service could not be installed, started, stopped or removed.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The service manager cannot represent a path or a variable of this installation.
    #[error("a path or variable of this installation cannot stand in {0}")]
    Unwritable(&'static str),
    /// The user has no home folder, and so no folder for services.
    #[error("this user has no home folder for {0}")]
    NoHome(&'static str),
    /// The receipt could not be read or written.
    #[error(transparent)]
    Receipt(#[from] ChangeError),
    /// The owner of the unit has masked it.
    #[error("`link.service` is masked, so systemd does not start it")]
    Masked,
    /// The service manager reported a failure.
    #[error("{manager} could not {action} `{entry}`")]
    Manager {
        manager: &'static str,
        entry: &'static str,
        action: &'static str,
        #[source]
        source: io::Error,
    },
}

impl ServiceError {
    /// Returns the conversion of the failure of `action` on the entry of `manager`.
    pub(crate) fn of(manager: Manager, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        Self::on(manager.name(), manager.entry(), action)
    }

    /// Returns the conversion of the failure of `action` on `entry`.
    pub(crate) fn on(
        manager: &'static str,
        entry: &'static str,
        action: &'static str,
    ) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Manager { manager, entry, action, source }
    }
}
