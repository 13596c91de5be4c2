//! `link-agent --self-check`: checks whether this build works on this machine with its current
//! configuration. Changes nothing. An update runs this check of the new version before it replaces
//! the running version.

use std::time::Duration;

use anyhow::Context as _;
use link_client::http::{Call, Http};
use link_platform::{fs, paths::Roots};
use link_protocol::{config, identity::Identity};

use crate::state::{journal::Journal, session};

/// The backend's timeout.
const PATIENCE: Duration = Duration::from_secs(10);

/// The check could not finish for a reason unrelated to this version.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct CannotTell(&'static str);

/// Checks the folders, the identity, the sessions, the journal, and, if `connected`, the connection
/// to the backend.
///
/// # Errors
/// [`CannotTell`] if the failure says nothing about this version, any other error if this version
/// does not work here.
pub(crate) async fn run(roots: &Roots, connected: bool) -> anyhow::Result<()> {
    let scratch = tempfile::Builder::new()
        .prefix("self-check-")
        .tempdir_in(&roots.state)
        .with_context(|| format!("cannot write to `{}`", roots.state.display()))
        .context(CannotTell("the folder of the state cannot be written"))?;
    let path = roots.identity();
    let identity = match fs::read_plain(&path, config::SIZE_LIMIT) {
        Ok(text) => Identity::parse(&text)
            .map(Some)
            .with_context(|| format!("cannot use `{}`", path.display()))?,
        Err(error) if error.is_not_found() => None,
        Err(error) => return Err(error.into()),
    };
    session::find(roots, identity.as_ref().map(|identity| identity.device_id))?;
    if roots.journal().exists() {
        let copy = scratch.path().join("journal.db");
        let copied = Journal::copy(&roots.journal(), &copy).await;
        copied.context(CannotTell("the journal cannot be copied"))?;
        let journal = Journal::open(&copy).await?;
        let read = journal.load().await;
        journal.close().await;
        read?;
    }
    if let Some(identity) = identity.filter(|_| connected) {
        let backend = Http::new(&identity.backend_url)?;
        let asked = backend.call_for_status(Call::get("/healthz").timeout(PATIENCE)).await;
        let reason = "the backend, which the running version reaches, does not answer";
        asked.context(CannotTell(reason))?;
    }
    Ok(())
}
