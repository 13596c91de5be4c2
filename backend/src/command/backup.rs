//! `backup`: writes one consistent archive of the data folder. The backend may run meanwhile.
//!
//! The copy of the database is a snapshot. Model files never change and can only be deleted, so the backup first
//! creates hard links to them in a temporary folder.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: reads the data folder"
)]

use std::{
    fs::File,
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
};

use crate::command::archive::{Manifest, Writer};
use anyhow::Context as _;
use link_backend::{
    args::Backup,
    config::{Config, load::Loaded},
    content::{self, Home},
    host::clock::{Clock as _, SystemClock},
    releases,
    tables::upkeep,
};
use link_protocol::exit_code::ExitCode;
use serde_json::json;
use tempfile::TempDir;

use crate::command::{
    LOCK, bar, must_exist,
    outcome::{Ended, Refused, print},
    private,
};

/// The prefix of temporary folders, which exist while a backup runs.
const SCRATCH: &str = ".backup-";
/// The lock that prevents concurrent backups.
const BACKUP_LOCK: &str = "backup.lock";
/// The maximum number of attempts if models are deleted during the snapshot.
const TRIES: u32 = 5;

/// The files to copy, each with its path relative to the data folder.
struct Sources {
    parts: Vec<(String, PathBuf)>,
    schema: Option<i64>,
    _scratch: Vec<TempDir>,
}

/// Writes the archive.
pub(crate) async fn run(loaded: &Loaded, options: &Backup, json: bool) -> Ended {
    let config = loaded.config()?;
    must_exist(&config.data)?;
    if options.file.exists() && !options.force {
        let said = format!(
            "`{}` exists: name another file, or replace it with --force",
            options.file.display()
        );
        return Err(Refused::new(ExitCode::CannotWrite, anyhow::Error::msg(said)));
    }
    let lock = link_platform::fs::try_lock(&config.data.join(BACKUP_LOCK))?;
    let busy = || anyhow::Error::msg("another backup of this folder is running: wait for it");
    let _lock = lock.ok_or_else(|| Refused::new(ExitCode::Busy, busy()))?;
    let sources = collect(&config).await?;
    let (manifest, size_bytes) = write(&sources, &options.file)?;
    tell(&config, &manifest, options, size_bytes, json)?;
    Ok(ExitCode::Success)
}

fn tell(
    config: &Config,
    manifest: &Manifest,
    options: &Backup,
    size_bytes: u64,
    json: bool,
) -> Result<(), Refused> {
    let file = options.file.display().to_string();
    let parts = manifest.parts.len();
    let has_database = manifest.schema.is_some();
    if json {
        let told = json!({
            "file": file, "size_bytes": size_bytes, "parts": parts, "database": has_database,
            "models": config.content == Home::Folder, "schema": manifest.schema,
            "created_at": manifest.created_at,
        });
        return print(&told.to_string());
    }
    print(&format!("`{file}` holds {parts} files, {size_bytes} bytes"))?;
    if let Home::Bucket(bucket) = &config.content {
        print(&format!(
            "the model files are NOT part of it: they stay in the bucket `{}`, which keeps versions \
             or is copied (docs/operations.md)",
            bucket.bucket
        ))?;
    }
    if config.database_url.is_some() {
        print(
            "the database is NOT part of it: PostgreSQL is backed up by pg_dump, begun before this \
             (docs/operations.md)",
        )?;
    }
    Ok(())
}

/// Takes the snapshot of the database first, because every model in it must be in the backup. If a model file is
/// deleted meanwhile, takes the snapshot again.
async fn collect(config: &Config) -> Result<Sources, Refused> {
    let models = config.data.join(content::FOLDER);
    remove_left_over(&config.data)?;
    if models.is_dir() {
        remove_left_over(&models)?;
    }
    for _ in 0..TRIES {
        let mut sources = Sources { parts: Vec::new(), schema: None, _scratch: Vec::new() };
        let mut wanted = None;
        if config.database_url.is_none() {
            let scratch = scratch(&config.data)?;
            let copy = scratch.path().join("link.db");
            let file = upkeep::file(&config.data);
            upkeep::snapshot(&file, &copy).await.map_err(|error| unreadable(&file, error))?;
            let found = upkeep::inspect(&copy).await.map_err(|error| unreadable(&copy, error))?;
            if let Some(damage) = found.damages.first() {
                let said = format!("the database is damaged: {damage}; see `link-backend doctor`");
                return Err(Refused::failed(anyhow::Error::msg(said)));
            }
            sources.schema = Some(found.applied.last().copied().unwrap_or(0));
            sources.parts.push(("link.db".to_owned(), copy));
            sources._scratch.push(scratch);
            wanted = Some(found.contents);
        }
        rest(&config.data, &config.data, &mut sources.parts)?;
        let is_elsewhere = config.content != Home::Folder;
        if is_elsewhere || link_models(&models, wanted, &mut sources)? {
            return Ok(sources);
        }
    }
    Err(Refused::failed(anyhow::Error::msg(
        "a model file is missing, or models are deleted all the time: see `link-backend doctor`",
    )))
}

fn unreadable(file: &Path, error: link_backend::database::StoreError) -> Refused {
    Refused::failed(anyhow::Error::new(error).context(format!("cannot copy `{}`", file.display())))
}

/// Creates hard links to the `wanted` model files, or to all. Returns false if a file does not exist.
fn link_models(
    models: &Path,
    wanted: Option<Vec<String>>,
    sources: &mut Sources,
) -> Result<bool, Refused> {
    let names = match wanted {
        Some(names) => names,
        None if models.is_dir() => names_in(models)?,
        None => Vec::new(),
    };
    if names.is_empty() {
        return Ok(true);
    }
    if !models.is_dir() {
        return Ok(false);
    }
    let scratch = scratch(models)?;
    for name in names {
        let (from, second) = (models.join(&name), scratch.path().join(&name));
        let part = format!("{}/{name}", content::FOLDER);
        match std::fs::hard_link(&from, &second) {
            Ok(()) => sources.parts.push((part, second)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            // Not every file system has hard links.
            Err(_) if from.is_file() => sources.parts.push((part, from)),
            Err(_) => return Ok(false),
        }
    }
    sources._scratch.push(scratch);
    Ok(true)
}

fn names_in(folder: &Path) -> Result<Vec<String>, Refused> {
    let mut names = Vec::new();
    for entry in listed(folder)? {
        if entry.path().is_file() {
            names.extend(entry.file_name().into_string().ok().filter(|name| !is_temporary(name)));
        }
    }
    Ok(names)
}

/// Lists the other files of the folder: keys, certificates and the setup token.
fn rest(data: &Path, folder: &Path, parts: &mut Vec<(String, PathBuf)>) -> Result<(), Refused> {
    for entry in listed(folder)? {
        let path = entry.path();
        let inside = path.strip_prefix(data).unwrap_or(&path);
        let Some(name) = inside.to_str().map(str::to_owned) else { continue };
        let is_elsewhere = name == content::FOLDER
            || name.starts_with("link.db")
            || [LOCK, BACKUP_LOCK].contains(&name.as_str())
            || entry.file_name().to_str().is_some_and(is_temporary);
        if is_elsewhere {
            continue;
        }
        let kind = entry.file_type().with_context(|| format!("failed to look at `{name}`"))?;
        if kind.is_dir() {
            rest(data, &path, parts)?;
        } else if kind.is_file() {
            parts.push((name, path));
        }
    }
    Ok(())
}

/// Tells whether a file is temporary, by the dot at the start of its name.
fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name != releases::LIST
}

fn listed(folder: &Path) -> Result<Vec<std::fs::DirEntry>, Refused> {
    let entries = std::fs::read_dir(folder).and_then(Iterator::collect);
    let mut entries: Vec<std::fs::DirEntry> =
        entries.with_context(|| format!("failed to list `{}`", folder.display()))?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    Ok(entries)
}

fn scratch(folder: &Path) -> Result<TempDir, Refused> {
    let made = tempfile::Builder::new().prefix(SCRATCH).permissions(private()).tempdir_in(folder);
    Ok(made.with_context(|| format!("failed to make a folder in `{}`", folder.display()))?)
}

/// Deletes the temporary folders of backups that were killed.
fn remove_left_over(folder: &Path) -> Result<(), Refused> {
    for entry in listed(folder)? {
        if entry.file_name().to_string_lossy().starts_with(SCRATCH) {
            let path = entry.path();
            std::fs::remove_dir_all(&path)
                .with_context(|| format!("failed to delete `{}`", path.display()))?;
        }
    }
    Ok(())
}

/// Writes the archive under a temporary name and renames it, so that a reader finds a complete archive or none.
fn write(sources: &Sources, file: &Path) -> Result<(Manifest, u64), Refused> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    let failed = || format!("failed to write `{}`", file.display());
    let temporary = tempfile::Builder::new().prefix(".link-backup-").tempfile_in(folder);
    let temporary = temporary.with_context(failed)?;
    let sizes = sources.parts.iter().filter_map(|(_, from)| from.metadata().ok());
    let bar = bar(sizes.map(|found| found.len()).sum());
    let mut writer = Writer::new(BufWriter::new(temporary.as_file()));
    for (path, from) in &sources.parts {
        bar.set_message(path.clone());
        writer
            .add(path, from, &mut |bytes| bar.inc(bytes))
            .with_context(|| format!("failed to back up `{path}`"))?;
    }
    let version = semver::Version::parse(env!("CARGO_PKG_VERSION")).map_err(Refused::failed)?;
    let finished = writer.finish(version, SystemClock.now(), sources.schema);
    let (mut out, manifest) = finished.with_context(failed)?;
    out.flush().with_context(failed)?;
    drop(out);
    bar.finish_and_clear();
    temporary.as_file().sync_all().with_context(failed)?;
    let size_bytes = temporary.as_file().metadata().with_context(failed)?.len();
    temporary.persist(file).map_err(|error| error.error).with_context(failed)?;
    File::open(folder).and_then(|folder| folder.sync_all()).with_context(failed)?;
    Ok((manifest, size_bytes))
}
