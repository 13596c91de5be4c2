//! Carries out a transfer of this device to another account: deletes all state of the former
//! account, then moves the identity to the next epoch.
//!
//! Each step can be repeated, and the identity changes last. If the agent ends in between, it is
//! still in its old epoch, so the backend answers the next hello with the handover again.

#![expect(clippy::disallowed_methods, reason = "IO shell: the folders of the account before")]

use std::{
    io,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use link_platform::{
    checkpoint,
    fs::{self, FileError},
    paths::Roots,
};
use link_protocol::{config, counter::Epoch, id::PipelineId, identity::Identity};

/// The prefix of the file names of journals: this device's, and the renamed ones of former devices.
const JOURNALS: &str = "journal.";

/// Deletes the stored state of the former account and moves `identity` to `to_epoch`. Nothing else
/// may use these files.
///
/// # Errors
/// If a file cannot be removed or written.
pub(crate) fn carry_out(roots: &Roots, identity: &Identity, to_epoch: Epoch) -> anyhow::Result<()> {
    let path = roots.identity();
    match is_said(&path, identity)? {
        Some(true) => {}
        Some(false) => {
            tracing::info!(
                "the device was registered again; the handover belongs to the former registration"
            );
            return Ok(());
        }
        // The identity was only in a session, and sessions are deleted next.
        None => fs::write_private(&path, identity.to_text().as_bytes())?,
    }
    // Delete the sessions first, because a restart would serve their pipelines again.
    fs::remove_dir(&roots.sessions())?;
    checkpoint::reach("handover-sessions");
    remove_files(&roots.state, JOURNALS)?;
    checkpoint::reach("handover-journal");
    fs::remove_dir(&roots.models())?;
    // Engine logs, and the folders of engines, are named after pipelines.
    remove_files(&roots.logs(), PipelineId::PREFIX)?;
    remove_folders(&roots.state.join("run"), PipelineId::PREFIX)?;
    checkpoint::reach("handover-cleared");
    let next = Identity { epoch: to_epoch, ..identity.clone() };
    fs::write_private(&path, next.to_text().as_bytes())?;
    checkpoint::reach("handover-done");
    Ok(())
}

/// Returns whether the file at `path` still contains `identity`; `None` if the file is missing or
/// damaged.
fn is_said(path: &Path, identity: &Identity) -> Result<Option<bool>, FileError> {
    match fs::read_plain(path, config::SIZE_LIMIT) {
        Ok(text) => Ok(Identity::parse(&text).ok().map(|said| said == *identity)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes the files in `folder` whose name starts with `start`.
fn remove_files(folder: &Path, start: &str) -> anyhow::Result<()> {
    for path in named(folder, start)? {
        fs::remove_file(&path)?;
    }
    Ok(())
}

/// Removes the folders in `folder` whose name starts with `start`, and files with such a name.
fn remove_folders(folder: &Path, start: &str) -> anyhow::Result<()> {
    for path in named(folder, start)? {
        if path.is_dir() { fs::remove_dir(&path)? } else { fs::remove_file(&path)? }
    }
    Ok(())
}

/// Returns the paths in `folder` whose name starts with `start`.
fn named(folder: &Path, start: &str) -> anyhow::Result<Vec<PathBuf>> {
    let failed = || format!("cannot read `{}`", folder.display());
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        entries => entries.with_context(failed)?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry.with_context(failed)?;
        if entry.file_name().to_string_lossy().starts_with(start) {
            paths.push(entry.path());
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use link_protocol::{
        identity::{SCHEMA_VERSION, encode_seed},
        registration::{TransportSettings, TransportType},
        secret::Secret,
    };

    use super::*;

    #[test]
    fn everything_of_the_account_before_goes_and_the_rest_stays() {
        let (_dir, roots) = device();
        carry_out(&roots, &identity(1), Epoch(2)).unwrap();
        assert_eq!(said(&roots), identity(2));
        let gone = [roots.sessions(), roots.journal(), roots.models()];
        assert!(gone.iter().all(|path| !path.exists()), "{gone:?}");
        let mut left = Vec::new();
        for folder in [&roots.state, &roots.logs(), &roots.state.join("run"), &roots.config] {
            left.extend(names(folder));
        }
        left.sort();
        let expected = [
            "agent.json",
            "agent.log",
            "agent.pid",
            "control.token",
            "identity.json",
            "logs",
            "run",
        ];
        assert_eq!(left, expected);
    }

    /// After an interruption at any point, repeating the steps gives the same result.
    #[test]
    fn what_was_interrupted_is_done_again() {
        let whole = device();
        carry_out(&whole.1, &identity(1), Epoch(2)).unwrap();
        let (_dir, roots) = device();
        fs::remove_dir(&roots.sessions()).unwrap();
        fs::remove_file(&roots.journal()).unwrap();
        carry_out(&roots, &identity(1), Epoch(2)).unwrap();
        assert_eq!((said(&roots), names(&roots.state)), (identity(2), names(&whole.1.state)));
        let (_dir, empty) = device();
        fs::remove_dir(&empty.state).unwrap();
        fs::create_private_dir(&empty.state).unwrap();
        carry_out(&empty, &identity(1), Epoch(2)).unwrap();
        assert_eq!(said(&empty), identity(2));
    }

    #[test]
    fn who_the_device_is_is_never_only_in_the_sessions_that_go() {
        for damaged in [None, Some("{")] {
            let (_dir, roots) = device();
            fs::remove_file(&roots.identity()).unwrap();
            if let Some(text) = damaged {
                fs::write_private(&roots.identity(), text.as_bytes()).unwrap();
            }
            // A folder in the place of a journal cannot be removed as a file.
            fs::create_private_dir(&roots.state.join("journal.stuck")).unwrap();
            assert!(carry_out(&roots, &identity(1), Epoch(2)).is_err());
            assert_eq!(said(&roots), identity(1), "{damaged:?}");
        }
    }

    #[test]
    fn a_device_that_was_registered_anew_meanwhile_is_left_alone() {
        let (_dir, roots) = device();
        let newer = Identity { device_token: Secret::new("newer"), ..identity(5) };
        fs::write_private(&roots.identity(), newer.to_text().as_bytes()).unwrap();
        carry_out(&roots, &identity(1), Epoch(2)).unwrap();
        assert_eq!(said(&roots), newer);
        assert!(roots.journal().exists() && roots.models().exists() && roots.sessions().exists());
    }

    /// Creates a device with files in every folder.
    fn device() -> (tempfile::TempDir, Roots) {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots::below(dir.path());
        let pipeline = format!("pip_{:032x}", 1);
        for path in [
            roots.identity(),
            roots.agent_pid(),
            roots.control_token(),
            roots.agent_config(),
            roots.journal(),
            roots.state.join("journal.db-wal"),
            roots.state.join(format!("journal.dev_{:032x}.db", 9)),
            roots.sessions().join("session_20261001T000000000Z.json"),
            roots.sessions().join("former_session_20260901T000000000Z.json"),
            roots.models().join(format!("mdl_{:032x}", 1)).join("0123").join("tiny.gguf"),
            roots.logs().join("agent.log"),
            roots.logs().join(format!("{pipeline}.log")),
            roots.state.join("run").join(format!("{pipeline}.key")),
            roots.state.join("run").join(&pipeline).join("key"),
        ] {
            fs::create_private_dir(path.parent().unwrap()).unwrap();
            fs::write_private(&path, b"of the account before").unwrap();
        }
        fs::write_private(&roots.identity(), identity(1).to_text().as_bytes()).unwrap();
        (dir, roots)
    }

    fn said(roots: &Roots) -> Identity {
        Identity::parse(&fs::read_to_string(&roots.identity()).unwrap()).unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let name = |entry: io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<_> = entries.map(|entry| name(entry).into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn identity(epoch: u64) -> Identity {
        Identity {
            schema_version: SCHEMA_VERSION.to_owned(),
            backend_url: "https://link.example".to_owned(),
            device_id: format!("dev_{:032x}", 1).parse().unwrap(),
            device_token: Secret::new("token"),
            epoch: Epoch(epoch),
            transport: TransportSettings { r#type: TransportType::Http },
            backend_keys: Vec::new(),
            private_key_seed: encode_seed(&[3; 32]),
        }
    }
}
