//! `restore`: replaces a data folder with a backup.
//!
//! The backup is unpacked and checked next to the folder before anything changes. The previous folder is renamed, not
//! deleted.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: replaces the data folder"
)]

use std::{
    fs::File,
    io::{self, BufReader},
    os::unix::fs::{MetadataExt as _, chown},
    path::{Path, PathBuf},
};

use crate::command::archive::{self, InvalidBackup, Manifest};
use anyhow::Context as _;
use link_backend::{
    args::Restore,
    config::load::Loaded,
    host::clock::{Clock as _, SystemClock},
    tables::upkeep,
};
use link_platform::fs;
use link_protocol::exit_code::ExitCode;
use serde_json::json;
use tempfile::TempDir;

use crate::command::{
    bar, lock,
    outcome::{Ended, Refused, print},
    private,
};

/// Replaces the folder.
pub(crate) async fn run(loaded: &Loaded, options: &Restore, json: bool) -> Ended {
    let data = absolute(loaded.data()?)?;
    let is_there = data.exists();
    let _lock = if is_there { Some(lock(&data)?) } else { None };
    if is_there && !options.force && has_entries(&data)? {
        let said = format!(
            "the folder `{}` is not empty: with --force it is put aside, or name another --data",
            data.display()
        );
        return Err(Refused::new(ExitCode::CannotWrite, anyhow::Error::msg(said)));
    }
    let (staging, manifest) = unpack(&options.file, &data)?;
    if manifest.schema.is_some() {
        check(&upkeep::file(staging.path())).await?;
    }
    if is_there {
        keep_owner(&data, staging.path())?;
    }
    let aside = swap(staging, &data, is_there)?;
    let database = manifest.schema.is_some();
    let shown = data.display().to_string();
    let aside = aside.map(|aside| aside.display().to_string());
    if json {
        let told = json!({
            "data": shown, "parts": manifest.parts.len(), "database": database,
            "created_at": manifest.created_at, "put_aside": aside,
        });
        print(&told.to_string())?;
        return Ok(ExitCode::Success);
    }
    print(&format!(
        "`{shown}` is as it was at {}: {} files; everybody must log in again",
        manifest.created_at,
        manifest.parts.len()
    ))?;
    if let Some(aside) = aside {
        print(&format!("what was there is in `{aside}`; delete it when all is well"))?;
    }
    if !database {
        print("the database is not part of this backup: restore it with pg_restore")?;
    }
    Ok(ExitCode::Success)
}

/// Unpacks next to the folder, so that one rename completes the restore.
fn unpack(file: &Path, data: &Path) -> Result<(TempDir, Manifest), Refused> {
    let parent = data.parent().unwrap_or(data);
    std::fs::create_dir_all(parent)
        .with_context(|| format!("failed to make `{}`", parent.display()))?;
    let from = File::open(file)
        .with_context(|| format!("failed to read the backup `{}`", file.display()))?;
    let size = from.metadata().map_or(0, |found| found.len());
    let staging = tempfile::Builder::new()
        .prefix(".link-restore-")
        .permissions(private())
        .tempdir_in(parent)
        .with_context(|| format!("failed to make a folder in `{}`", parent.display()))?;
    let bar = bar(size);
    let manifest =
        archive::unpack(BufReader::new(from), staging.path(), &mut |bytes| bar.inc(bytes));
    bar.finish_and_clear();
    let manifest = manifest.map_err(|error| refused(file, error))?;
    Ok((staging, manifest))
}

fn refused(file: &Path, error: InvalidBackup) -> Refused {
    let code = match &error {
        InvalidBackup::Io(cause) if cause.kind() == io::ErrorKind::StorageFull => ExitCode::NoSpace,
        InvalidBackup::Damaged(_) => ExitCode::ChecksumMismatch,
        InvalidBackup::Io(_)
        | InvalidBackup::NotABackup
        | InvalidBackup::Cut
        | InvalidBackup::Manifest(_)
        | InvalidBackup::Format(_)
        | InvalidBackup::Foreign(_) => ExitCode::Failed,
    };
    let said = format!("nothing was changed: `{}` cannot be restored", file.display());
    Refused::new(code, anyhow::Error::new(error).context(said))
}

/// Checks that the database is intact and not from a newer program.
async fn check(file: &Path) -> Result<(), Refused> {
    let broken = |said: String| Refused::failed(anyhow::Error::msg(said));
    let found = upkeep::inspect(file).await.map_err(Refused::failed)?;
    if let Some(damage) = found.damages.first() {
        return Err(broken(format!(
            "nothing was changed: the database in the backup is damaged: {damage}"
        )));
    }
    if let Some(version) = found.unknown() {
        return Err(broken(format!(
            "nothing was changed: the backup is of a newer link-backend (change {version} of the \
             tables): install that version first"
        )));
    }
    upkeep::go_on_after_restore(file).await.map_err(Refused::failed)
}

/// Gives the restored files to the owner of the previous folder, because the service runs under that account.
fn keep_owner(old: &Path, new: &Path) -> Result<(), Refused> {
    let owner = std::fs::metadata(old).context("failed to look at the data folder")?;
    let ours = std::fs::metadata(new).context("failed to look at the new folder")?;
    if (owner.uid(), owner.gid()) != (ours.uid(), ours.gid()) {
        give(new, &owner).with_context(|| {
            format!("failed to give the new folder to the owner of `{}`", old.display())
        })?;
    }
    Ok(())
}

fn give(path: &Path, owner: &std::fs::Metadata) -> io::Result<()> {
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            give(&entry?.path(), owner)?;
        }
    }
    chown(path, Some(owner.uid()), Some(owner.gid()))
}

fn swap(staging: TempDir, data: &Path, is_there: bool) -> Result<Option<PathBuf>, Refused> {
    let mut aside = None;
    if is_there {
        let stamp = SystemClock.now().strftime("%Y%m%dT%H%M%SZ").to_string();
        let mut name = data.file_name().unwrap_or_default().to_owned();
        name.push(format!(".before-restore-{stamp}"));
        let target = data.with_file_name(name);
        fs::rename(data, &target)?;
        aside = Some(target);
    }
    let staging = staging.keep();
    if let Err(error) = fs::rename(&staging, data) {
        if let Some(aside) = &aside {
            fs::rename(aside, data)?;
        }
        return Err(error.into());
    }
    if let Some(parent) = data.parent() {
        File::open(parent).and_then(|parent| parent.sync_all()).context("failed to sync")?;
    }
    Ok(aside)
}

fn absolute(path: &Path) -> Result<PathBuf, Refused> {
    Ok(std::path::absolute(path)
        .with_context(|| format!("cannot understand the path `{}`", path.display()))?)
}

fn has_entries(folder: &Path) -> Result<bool, Refused> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("failed to list `{}`", folder.display()))?;
    let ours = |entry: io::Result<std::fs::DirEntry>| {
        entry.is_ok_and(|entry| entry.file_name() != crate::command::LOCK)
    };
    Ok(entries.into_iter().any(ours))
}
