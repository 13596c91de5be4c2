//! The identity of this device: determines it, waits until there is one, and notices when it
//! changes.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits for a file")]

use std::{path::Path, time::Duration};

use anyhow::Context as _;
use link_agent_core::identity::{Resolution, resolve};
use link_platform::{fs, paths::Roots};
use link_protocol::{
    config::{self, IdentityConfig},
    identity::Identity,
};

use crate::{
    local_api::{Listening, WantedPort, waiting},
    onboarding::Onboarding,
    state::session,
};

/// The interval of looking for an identity while there is none.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The interval of looking whether the identity has changed. Each look wakes an idle device twice, since tokio's timer
/// rounds long sleeps and then sleeps for the rest.
const CHANGED: Duration = Duration::from_secs(2);

/// Determines the identity of this device. While there is none, this waits, and the local API in
/// `waiting` answers that the device is not registered.
///
/// # Errors
/// If the file of `link register` is damaged and no session holds the identity.
pub(crate) async fn settle(
    config: &IdentityConfig,
    roots: &Roots,
    port: WantedPort,
    waiting: &mut Option<Listening>,
) -> anyhow::Result<Identity> {
    let path = roots.identity();
    let mut is_waiting = false;
    let mut onboarding = Onboarding::new();
    let mut sessions = None;
    loop {
        let explicit = read(&path);
        if !matches!(explicit, Ok(Some(_))) && sessions.is_none() {
            // Nothing else writes sessions, so reading them once is enough.
            sessions = Some(session::find(roots, config.device_id)?);
        }
        let session = sessions.as_ref().and_then(|found| found.latest.as_ref());
        let damaged = explicit.as_ref().err().map(|error| format!("{error:#}"));
        match resolve(config, explicit.as_ref().ok().cloned().flatten(), session) {
            Resolution::Explicit(identity) => return Ok(identity),
            Resolution::Session(identity) => {
                match damaged {
                    Some(reason) => {
                        tracing::warn!("{reason}; using the identity of the latest session");
                    }
                    None => restore(&path, &identity),
                }
                return Ok(identity);
            }
            Resolution::Onboard { device_id } => {
                if let Some(identity) = onboarding.try_now(config, device_id, roots).await {
                    return Ok(identity);
                }
            }
            Resolution::FactoryDefaults => {
                explicit?;
                if !is_waiting {
                    tracing::info!(
                        "this device is not registered yet: run `link up` or `link register`"
                    );
                }
            }
        }
        if !is_waiting {
            is_waiting = true;
            match waiting::start(port, roots).await {
                Ok(listening) => *waiting = Some(listening),
                // Another program uses the port, which may be free by the time the device is
                // registered.
                Err(error) => tracing::warn!("no local API yet: {error:#}"),
            }
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Returns when the file stops matching `current`: the device was registered again, or the file
/// removed.
pub(crate) async fn changed(path: &Path, current: &Identity) {
    loop {
        tokio::time::sleep(CHANGED).await;
        match fs::read_plain(path, config::SIZE_LIMIT) {
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

fn read(path: &Path) -> anyhow::Result<Option<Identity>> {
    match fs::read_plain(path, config::SIZE_LIMIT) {
        Ok(text) => Identity::parse(&text)
            .map(Some)
            .with_context(|| format!("cannot use `{}`", path.display())),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Rewrites the file, because the `link` command reads it too.
fn restore(path: &Path, identity: &Identity) {
    tracing::warn!("`{}` was missing; using the identity of the latest session", path.display());
    if let Err(error) = fs::write_private(path, identity.to_text().as_bytes()) {
        tracing::warn!("{error}");
    }
}
