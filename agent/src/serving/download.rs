//! Model files on disk: downloaded, verified, and only then renamed to their final path.
//!
//! `models/<model>/<first 16 digits of its SHA-256>/<name>` exists only if the file is complete and verified. A
//! verified file that is not a model is deleted again. An incomplete file is a `.part` in the same folder: a failure or
//! a cancel deletes it, and after a crash the download resumes from it.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "IO shell: model files")]

use std::{
    collections::HashMap,
    io::Read as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use link_agent_core::{
    event::{DownloadFailure, Event},
    record::DownloadId,
};
use link_client::{
    model_file,
    transfer::{self, Source, Transfer},
};
use link_platform::checkpoint;
use link_protocol::{
    agent_api,
    command::ModelFile,
    id::{ModelId, PipelineId},
    identity::Identity,
    plugin::{Manifest, Metadata, ModelFiles, Settings},
};
use tokio::sync::{Mutex, mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::{control::pipeline::Pipeline, inbox::Inbox, serving::engine::EngineDownloads};

/// The capacity of the download queue.
const QUEUE: usize = 64;

/// The model files of this device.
#[derive(Debug)]
pub(crate) struct Downloads {
    models: PathBuf,
    jobs: mpsc::Sender<Job>,
    running: HashMap<DownloadId, CancellationToken>,
    inbox: Inbox,
    _thread: Pipeline,
}

#[derive(Debug)]
struct Job {
    download: DownloadId,
    plugin: String,
    settings: Settings,
    file: ModelFile,
    path: PathBuf,
    cancel: CancellationToken,
}

/// The state that all downloads share.
#[derive(Debug)]
struct Origin {
    backend_url: String,
    identity: Identity,
    inbox: Inbox,
    engines: EngineDownloads,
    /// Locks each file for one writer: a cancelled download ends before the next one starts.
    files: Mutex<HashMap<PathBuf, Arc<Mutex<()>>>>,
}

impl Downloads {
    /// Starts the download thread.
    pub(crate) fn start(
        models: PathBuf,
        identity: &Identity,
        engines: EngineDownloads,
        inbox: Inbox,
    ) -> anyhow::Result<Self> {
        let (jobs, mut queue) = mpsc::channel::<Job>(QUEUE);
        let origin = Arc::new(Origin {
            backend_url: identity.backend_url.trim_end_matches('/').to_owned(),
            identity: identity.clone(),
            inbox: inbox.clone(),
            engines,
            files: Mutex::default(),
        });
        let thread = Pipeline::spawn("downloads", move |_stop| async move {
            while let Some(job) = queue.recv().await {
                tokio::spawn(fetch(origin.clone(), job));
            }
        })?;
        Ok(Self { models, jobs, running: HashMap::new(), inbox, _thread: thread })
    }

    /// Starts downloading `file` unless a verified copy exists. Settings that the plugin does not take end the download
    /// before it begins. If the engine of the plugin is missing, it is downloaded first. The outcome is always an event.
    pub(crate) fn start_one(
        &mut self,
        download: DownloadId,
        (plugin, settings): (String, Settings),
        file: ModelFile,
    ) {
        self.running.retain(|_, cancel| !cancel.is_cancelled());
        let cancel = CancellationToken::new();
        let path = self.path(&file);
        let job = Job { download, plugin, settings, path, file, cancel: cancel.clone() };
        // Never full: the core runs fewer concurrent commands than this queue holds.
        if self.jobs.try_send(job).is_err() {
            let inbox = self.inbox.clone();
            let outcome = Err(DownloadFailure::Failed("the queue of downloads is full".to_owned()));
            let ended = Event::DownloadEnded { download, outcome };
            tokio::spawn(async move { inbox.event(ended).await });
            return;
        }
        self.running.insert(download, cancel);
    }

    /// Cancels a download.
    pub(crate) fn cancel(&mut self, download: DownloadId) {
        if let Some(cancel) = self.running.remove(&download) {
            cancel.cancel();
        }
    }

    /// Returns the final path of a file.
    pub(crate) fn path(&self, file: &ModelFile) -> PathBuf {
        self.folder(file.model_id).join(&file.sha256.as_str()[..16]).join(file.file_name.as_str())
    }

    /// Deletes all files of a model except `keep`.
    pub(crate) fn prune(&self, keep: &ModelFile) {
        let others = others(&self.folder(keep.model_id), &[self.path(keep)]);
        tokio::task::spawn_blocking(move || others.iter().for_each(|folder| remove(folder)));
    }

    /// Deletes all files except `kept`. A crash between a change of the state and the deletion of the old files leaves
    /// such files behind.
    pub(crate) fn sweep(&self, kept: &[ModelFile]) {
        let kept: Vec<_> = kept.iter().map(|file| self.path(file)).collect();
        // Listed before any download can begin, so that the deletion spares a download that begins meanwhile.
        let doomed = unreferenced(&self.models, &kept);
        tokio::task::spawn_blocking(move || doomed.iter().for_each(|folder| remove(folder)));
    }

    /// Deletes one file.
    pub(crate) fn discard(&self, file: &ModelFile) {
        let path = self.path(file);
        if let Err(error) = link_platform::fs::remove_file(&path) {
            tracing::warn!("{error}");
        }
        remove_empty(&path);
    }

    /// Deletes all files of a model; the outcome is an event.
    pub(crate) fn delete_model(&self, pipeline_id: PipelineId, model: ModelId) {
        let (folder, inbox) = (self.folder(model), self.inbox.clone());
        tokio::task::spawn_blocking(move || {
            let outcome = match std::fs::remove_dir_all(folder) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(format!("cannot delete the model's files: {error}"))
                }
                Ok(()) | Err(_) => Ok(()),
            };
            inbox.event_blocking(Event::ModelDeleted { pipeline_id, outcome });
        });
    }

    fn folder(&self, model: ModelId) -> PathBuf {
        self.models.join(model.to_string())
    }
}

async fn fetch(origin: Arc<Origin>, job: Job) {
    let lock = origin.files.lock().await.entry(job.path.clone()).or_default().clone();
    let _only_writer = lock.lock().await;
    let source = match &job.file.url {
        Some(url) => Source { url: url.clone(), bearer: None },
        None => {
            let path = agent_api::content_path(origin.identity.device_id, job.file.model_id);
            let url = format!("{}{path}", origin.backend_url);
            Source { url, bearer: Some(origin.identity.device_token.clone()) }
        }
    };
    let (progress, done) = watch::channel(0);
    let transfer = Transfer {
        source,
        size_bytes: job.file.size_bytes,
        sha256: &job.file.sha256,
        path: &job.path,
        progress: &progress,
    };
    let bring = async {
        if let Some(plugin) = origin.engines.plugin(&job.plugin) {
            plugin.check_settings(&job.settings).map_err(|refused| refused.to_string())?;
        }
        origin.engines.for_deployment(&job.plugin, job.download, &origin.inbox).await;
        fetch_model(&transfer, origin.engines.plugin(&job.plugin).as_deref()).await
    };
    let outcome = tokio::select! {
        outcome = bring => {
            outcome.map_err(DownloadFailure::Failed)
        }
        () = job.cancel.cancelled() => Err(DownloadFailure::Cancelled),
        never = report_progress(done, job.download, &origin.inbox) => match never {},
    };
    if matches!(outcome, Err(DownloadFailure::Cancelled)) {
        origin.engines.discard(&job.plugin);
    }
    if outcome.is_err() {
        let part = transfer::part(&job.path);
        if let Err(error) = link_platform::fs::remove_file(&part) {
            tracing::warn!("{error}");
        }
        remove_empty(&job.path);
    }
    checkpoint::reach("downloaded");
    origin.inbox.event(Event::DownloadEnded { download: job.download, outcome }).await;
    // Marks the job as finished in the list of running jobs.
    job.cancel.cancel();
    let mut files = origin.files.lock().await;
    if Arc::strong_count(&lock) == 2 {
        files.remove(&job.path);
    }
}

/// Downloads the file. A file that no engine of the plugin could load is deleted again. The file of a plugin that is not
/// installed yet is kept as it is.
async fn fetch_model(transfer: &Transfer<'_>, plugin: Option<&Manifest>) -> Result<(), String> {
    transfer.run().await.map_err(|error| error.to_string())?;
    let Some(plugin) = plugin else { return Ok(()) };
    let looked = match plugin.adapter.model.metadata {
        Some(Metadata::Gguf) => match model_file::look(transfer.path).await {
            Ok(Ok(_facts)) => Ok(()),
            Ok(Err(why)) => Err(format!("{why}; {}", why.hint())),
            Err(error) => Err(format!("the model's file cannot be read: {error}")),
        },
        None => has_format(transfer.path, &plugin.adapter.model),
    };
    let Err(refused) = looked else { return Ok(()) };
    if let Err(error) = link_platform::fs::remove_file(transfer.path) {
        tracing::warn!("{error}");
    }
    Err(refused)
}

/// Checks the first bytes of a model file.
fn has_format(path: &Path, files: &ModelFiles) -> Result<(), String> {
    let mut head = Vec::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(files.head_len()).read_to_end(&mut head))
        .map_err(|error| format!("the model's file cannot be read: {error}"));
    read?;
    if files.fits(&head) {
        return Ok(());
    }
    let format = &files.format;
    Err(format!("the file is no {format}; add a file of this format, or name the right plugin"))
}

/// Reports the progress of a download to the loop; never returns.
async fn report_progress(
    mut done: watch::Receiver<u64>,
    download: DownloadId,
    inbox: &Inbox,
) -> std::convert::Infallible {
    loop {
        if done.changed().await.is_err() {
            return std::future::pending().await;
        }
        let bytes_done = *done.borrow_and_update();
        inbox.event(Event::DownloadProgressed { download, bytes_done }).await;
    }
}

/// Returns the folders of models, and of files of models, that hold none of `kept`.
fn unreferenced(models: &Path, kept: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = others(models, kept);
    for model in folders(models) {
        if !found.contains(&model) {
            found.extend(others(&model, kept));
        }
    }
    found
}

/// Returns the folders in `folder` that hold none of `kept`.
fn others(folder: &Path, kept: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders = folders(folder);
    folders.retain(|other| !kept.iter().any(|path| path.starts_with(other)));
    folders
}

fn remove(folder: &Path) {
    if let Err(error) = std::fs::remove_dir_all(folder) {
        tracing::warn!("cannot delete `{}`: {error}", folder.display());
    }
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

/// Removes the empty folders above `path`.
fn remove_empty(path: &Path) {
    for folder in path.ancestors().skip(1).take(2) {
        if std::fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_arrives_during_the_deletion_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let models = dir.path();
        let write = |path: &str| {
            let path = models.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            path
        };
        let kept = write("used/0123/used.gguf");
        write("used/4567/before.gguf");
        write("unused/0123/unused.gguf");
        let mut found = unreferenced(models, std::slice::from_ref(&kept));
        let arriving = write("new/0123/new.gguf.part");
        found.iter().for_each(|folder| remove(folder));
        found.sort();
        assert_eq!(found, [models.join("unused"), models.join("used/4567")]);
        assert!(found.iter().all(|folder| !folder.exists()));
        assert!(arriving.exists() && kept.exists());
    }
}
