//! Model files on disk: fetched, verified, and only then given their name.
//!
//! A file is at `models/<model>/<first 16 digits of its SHA-256>/<name>` exactly when it is whole
//! and verified. What is not whole is a `.part` beside it, which a failure or a cancel deletes and
//! a crash leaves to be resumed.

#![expect(clippy::disallowed_methods, reason = "IO shell: model files")]

mod transfer;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use link_agent_core::{
    event::{DownloadFailure, Event},
    record::DownloadId,
};
use link_platform::checkpoint;
use link_protocol::{agent_api, command::ModelFile, id::ModelId, identity::Identity};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

use self::transfer::{Source, Transfer};
use crate::{pipeline::Pipeline, run::Inbox};

/// Downloads that may wait to be started.
const QUEUE: usize = 64;

/// The model files of this device.
#[derive(Debug)]
pub(crate) struct Downloads {
    models: PathBuf,
    jobs: mpsc::Sender<Job>,
    running: HashMap<DownloadId, CancellationToken>,
    _thread: Pipeline,
}

#[derive(Debug)]
struct Job {
    download: DownloadId,
    file: ModelFile,
    path: PathBuf,
    cancel: CancellationToken,
}

/// What every download needs to know.
#[derive(Debug)]
struct Origin {
    backend_url: String,
    identity: Identity,
    inbox: Inbox,
    /// One writer for each file: a cancelled download is gone before the next one starts.
    files: Mutex<HashMap<PathBuf, Arc<Mutex<()>>>>,
}

impl Downloads {
    /// Starts the thread that downloads.
    pub(crate) fn start(
        models: PathBuf,
        identity: &Identity,
        inbox: Inbox,
    ) -> anyhow::Result<Self> {
        let (jobs, mut queue) = mpsc::channel::<Job>(QUEUE);
        let origin = Arc::new(Origin {
            backend_url: identity.backend_url.trim_end_matches('/').to_owned(),
            identity: identity.clone(),
            inbox,
            files: Mutex::default(),
        });
        let client = transfer::client().context("cannot prepare downloads")?;
        let thread = Pipeline::spawn("downloads", move |_stop| async move {
            while let Some(job) = queue.recv().await {
                tokio::spawn(fetch(client.clone(), origin.clone(), job));
            }
        })?;
        Ok(Self { models, jobs, running: HashMap::new(), _thread: thread })
    }

    /// Starts to download `file`, unless it is there; the outcome is an event in any case.
    pub(crate) fn start_one(&mut self, download: DownloadId, file: ModelFile) {
        self.running.retain(|_, cancel| !cancel.is_cancelled());
        let cancel = CancellationToken::new();
        let job = Job { download, path: self.path(&file), file, cancel: cancel.clone() };
        if self.jobs.try_send(job).is_err() {
            tracing::error!("too many downloads wait");
        }
        self.running.insert(download, cancel);
    }

    /// Stops a download at once.
    pub(crate) fn cancel(&mut self, download: DownloadId) {
        if let Some(cancel) = self.running.remove(&download) {
            cancel.cancel();
        }
    }

    /// Where a file is, or will be.
    pub(crate) fn path(&self, file: &ModelFile) -> PathBuf {
        self.folder(file.model_id).join(&file.sha256.as_str()[..16]).join(file.file_name.as_str())
    }

    /// Deletes every file of a model but `keep`.
    pub(crate) fn prune(&self, keep: &ModelFile) {
        let kept = self.path(keep);
        let Ok(entries) = std::fs::read_dir(self.folder(keep.model_id)) else { return };
        for entry in entries.flatten() {
            if !kept.starts_with(entry.path())
                && let Err(error) = std::fs::remove_dir_all(entry.path())
            {
                tracing::warn!("cannot delete `{}`: {error}", entry.path().display());
            }
        }
    }

    /// Deletes one file.
    pub(crate) fn discard(&self, file: &ModelFile) {
        let path = self.path(file);
        if let Err(error) = link_platform::fs::remove_file(&path) {
            tracing::warn!("{error}");
        }
        remove_empty(&path);
    }

    /// Deletes every file of a model.
    pub(crate) fn delete_model(&self, model: ModelId) -> Result<(), String> {
        match std::fs::remove_dir_all(self.folder(model)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(format!("cannot delete the model's files: {error}"))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn folder(&self, model: ModelId) -> PathBuf {
        self.models.join(model.to_string())
    }
}

async fn fetch(client: reqwest::Client, origin: Arc<Origin>, job: Job) {
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
    let transfer = Transfer {
        client,
        source,
        file: &job.file,
        path: &job.path,
        download: job.download,
        inbox: &origin.inbox,
    };
    let outcome = tokio::select! {
        outcome = transfer.run() => outcome.map_err(DownloadFailure::Failed),
        () = job.cancel.cancelled() => Err(DownloadFailure::Cancelled),
    };
    if outcome.is_err() {
        let part = transfer::part(&job.path);
        if let Err(error) = link_platform::fs::remove_file(&part) {
            tracing::warn!("{error}");
        }
        remove_empty(&job.path);
    }
    checkpoint::reach("downloaded");
    origin.inbox.event(Event::DownloadEnded { download: job.download, outcome }).await;
}

/// Removes the folders above `path` that hold nothing.
fn remove_empty(path: &Path) {
    for folder in path.ancestors().skip(1).take(2) {
        if std::fs::remove_dir(folder).is_err() {
            return;
        }
    }
}
