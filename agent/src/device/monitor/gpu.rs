//! The GPUs of this machine: NVIDIA's through a tool, AMD's through files. GPUs of other makers are
//! not reported.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use link_protocol::system::GpuUsage;

use crate::device::monitor::{amd, nvidia::Nvidia};

/// The folder in which Linux lists graphics cards.
const CARDS: &str = "/sys/class/drm";

/// The sources of GPU data on this machine.
#[derive(Debug)]
pub(crate) struct Gpus {
    nvidia: Option<Nvidia>,
    cards: PathBuf,
}

impl Gpus {
    /// Finds drivers; `path` is the variable PATH.
    pub(crate) fn find(path: Option<&OsStr>) -> Self {
        Self { nvidia: Nvidia::find(path), cards: Path::new(CARDS).to_owned() }
    }

    /// Queries all sources.
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
