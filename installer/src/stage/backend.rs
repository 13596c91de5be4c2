//! Brings the backend of the current version onto this machine, beside the agent that is installed: its own
//! archive of the same release, verified in the same way.

use link_protocol::update::UpdateProgress;
use tokio::sync::watch;

use crate::{
    install::{Install, Outcome},
    layout::{Layout, Product},
    shared::SharedFile,
    stage::{Stage, StageError},
};

impl Stage<'_> {
    /// Downloads the backend of the current version, verifies it, and installs it into `to`.
    ///
    /// # Errors
    /// [`StageError`]; of a first installation nothing is left then.
    pub async fn bring_backend(
        &self,
        to: &Layout,
        shared: &[SharedFile],
        progress: &watch::Sender<UpdateProgress>,
    ) -> Result<Outcome, StageError> {
        self.current(Product::Backend, progress, |release| {
            Install { release, layout: to, shared, made: None, source: None }.run_files()
        })
        .await
    }
}
