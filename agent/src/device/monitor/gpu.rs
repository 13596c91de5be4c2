//! The GPUs of this machine, from whatever their drivers offer: a tool for NVIDIA's, files for
//! AMD's. Others are not seen.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use link_protocol::system::GpuUsage;

use crate::device::monitor::{amd, nvidia::Nvidia};

/// Where Linux shows graphics cards.
const CARDS: &str = "/sys/class/drm";

/// What can tell of GPUs here.
#[derive(Debug)]
pub(crate) struct Gpus {
    nvidia: Option<Nvidia>,
    cards: PathBuf,
}

impl Gpus {
    /// Looks for drivers; `path` is the variable PATH.
    pub(crate) fn find(path: Option<&OsStr>) -> Self {
        Self { nvidia: Nvidia::find(path), cards: Path::new(CARDS).to_owned() }
    }

    /// Asks all of them.
    pub(crate) async fn sample(&mut self) -> Vec<GpuUsage> {
        let mut found = Vec::new();
        if let Some(nvidia) = self.nvidia.take() {
            let (answer, still_there) = nvidia.ask().await;
            found = answer;
            self.nvidia = still_there;
        }
        found.extend(amd::read(&self.cards));
        found
    }
}
