//! Downloads the current version again, to repair damaged files. This is not an update: the version stays the same, and
//! no trial begins.

use link_platform::fs;
use link_protocol::update::UpdateProgress;
use tokio::sync::watch;

use crate::{
    decide::update::Declined,
    install::InstallError,
    layout::Product,
    stage::{FoundRelease, Stage, StageError},
    trust::Release,
    versions::{self, ChangeError},
};

impl Stage<'_> {
    /// Downloads the current version again, verifies it, and passes it to `install`.
    ///
    /// # Errors
    /// [`StageError`]. Only `install` changes the installation.
    pub async fn mend<T>(
        &self,
        progress: &watch::Sender<UpdateProgress>,
        install: impl FnOnce(&Release) -> Result<T, InstallError>,
    ) -> Result<T, StageError> {
        self.current(Product::Agent, progress, install).await
    }

    /// Downloads the current version of `product`, verifies it, and passes it to `install`.
    ///
    /// # Errors
    /// The errors of [`Stage::mend`].
    pub(super) async fn current<T>(
        &self,
        product: Product,
        progress: &watch::Sender<UpdateProgress>,
        install: impl FnOnce(&Release) -> Result<T, InstallError>,
    ) -> Result<T, StageError> {
        let _one_at_a_time = fs::try_lock(&self.layout.staging_lock())?.ok_or(ChangeError::Busy)?;
        let current = versions::current(self.layout)
            .ok_or(StageError::NotInstalled("no version is current; run install.sh again"))?;
        let (source, manifest) = self.published(Some(&current), progress).await?;
        if manifest.version != current {
            let newest = manifest.version.clone();
            return Err(Declined::NotPublished { wanted: current, newest }.into());
        }
        self.verified(&FoundRelease::new(source, manifest, product)?, progress, install).await
    }
}
