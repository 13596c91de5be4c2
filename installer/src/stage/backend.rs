//! Installs the backend beside the agent, in the current version: from its own archive of the same release, verified in
//! the same way.

use link_protocol::update::UpdateProgress;
use tokio::sync::watch;

use crate::{
    install::{Install, InstallOutcome},
    layout::{Layout, Product},
    shared::SharedFile,
    stage::{Stage, StageError},
};

impl Stage<'_> {
    /// Downloads the backend of the current version, verifies it, and installs it into `to`.
    ///
    /// # Errors
    /// [`StageError`]. A failed first installation leaves no files.
    pub async fn bring_backend(
        &self,
        to: &Layout,
        shared: &[SharedFile],
        progress: &watch::Sender<UpdateProgress>,
    ) -> Result<InstallOutcome, StageError> {
        self.current(Product::Backend, progress, |release| {
            Install { release, layout: to, shared, made: None, source: None }.run_files()
        })
        .await
    }
}
