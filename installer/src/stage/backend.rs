//! Brings the backend of the current version onto this machine, beside the agent that is installed: out of
//! the same release, verified in the same way.

use link_protocol::update::UpdateProgress;
use tokio::sync::watch;

use crate::{
    install::{Install, Outcome},
    layout::{BACKEND_PROGRAMS, Layout},
    shared::SharedFile,
    stage::{Stage, StageError},
};

impl Stage<'_> {
    /// Downloads the current version, verifies it, and installs its backend into `to`.
    ///
    /// # Errors
    /// [`StageError`]; of a first installation nothing is left then.
    pub async fn bring_backend(
        &self,
        to: &Layout,
        shared: &[SharedFile],
        progress: &watch::Sender<UpdateProgress>,
    ) -> Result<Outcome, StageError> {
        let brought = self
            .mend(progress, |release| {
                let (from, version) = (&release.from, &release.version);
                let backend = self.trust.verify_programs(from, version, &BACKEND_PROGRAMS);
                Ok(backend.map(|backend| {
                    let release = &backend.out_of(release.archive.clone());
                    Install { release, layout: to, shared, made: None, source: None }.run_files()
                }))
            })
            .await?;
        Ok(brought??)
    }
}
