//! Who this device is: waits for the identity file, and notices when it changes.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits for a file")]

use std::{path::Path, time::Duration};

use anyhow::Context as _;
use link_platform::fs;
use link_protocol::identity::Identity;

const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Reads the identity file; waits for as long as the device is not registered.
pub(crate) async fn wait_for(path: &Path) -> anyhow::Result<Identity> {
    let mut told = false;
    loop {
        match fs::read_to_string(path) {
            Ok(text) => {
                return Identity::parse(&text)
                    .with_context(|| format!("cannot use `{}`", path.display()));
            }
            Err(error) if error.is_not_found() => {
                if !told {
                    tracing::info!("this device is not registered yet: run `link register`");
                    told = true;
                }
            }
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Returns when the file no longer says what `current` does: registered anew, or removed.
pub(crate) async fn changed(path: &Path, current: &Identity) {
    loop {
        tokio::time::sleep(LOOK_AGAIN).await;
        match fs::read_to_string(path) {
            Ok(text) => {
                if Identity::parse(&text).is_ok_and(|identity| identity != *current) {
                    return;
                }
            }
            Err(error) if error.is_not_found() => return,
            Err(error) => tracing::warn!("{error}"),
        }
    }
}
