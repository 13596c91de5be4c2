//! The thread that loads the model and runs one inference after the other.
//!
//! The queue is bounded, a request whose client has left is skipped, and a panic of one inference is one failed request.
#![expect(clippy::disallowed_methods, reason = "IO shell: reads the model and the clock")]
#![expect(clippy::disallowed_types, reason = "IO shell: reads the model")]

use std::{
    fs::File,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::{Context as _, anyhow};
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use crate::{
    classifier::{Answer, Classifier},
    limits::WAITING_REQUESTS,
    network::{Cancel, Network},
    package,
    refusal::Refusal,
    runtime,
    upload::Upload,
};

/// What the thread needs to load the model.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) model: PathBuf,
    pub(crate) alias: String,
    pub(crate) runtime: Option<PathBuf>,
    pub(crate) threads: usize,
}

/// A file that waits for its inference.
pub(crate) struct Job {
    pub(crate) upload: Upload,
    pub(crate) cancel: Cancel,
    /// Told when the inference starts.
    pub(crate) started: oneshot::Sender<()>,
    /// Told the body of the answer.
    pub(crate) reply: oneshot::Sender<Result<Bytes, Refusal>>,
}

/// A model that is ready.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    pub(crate) labels: usize,
    pub(crate) jobs: mpsc::Sender<Job>,
}

/// Starts the thread, which loads the model and then reports that it is ready, or why not.
///
/// # Errors
/// If the system starts no thread.
pub(crate) fn start<C: Classifier>(
    source: Source,
) -> anyhow::Result<oneshot::Receiver<anyhow::Result<Ready>>> {
    let (report, ready) = oneshot::channel();
    thread::Builder::new()
        .name("inference".to_owned())
        .spawn(move || {
            let loaded = catch_unwind(AssertUnwindSafe(|| load::<C>(&source)))
                .unwrap_or_else(|_panic| Err(anyhow!("loading the model panicked")));
            match loaded {
                Ok(classifier) => {
                    let (jobs, queue) = mpsc::channel(WAITING_REQUESTS);
                    // Nobody listens if the process ends while the model loads.
                    let _closed = report.send(Ok(Ready { labels: classifier.labels(), jobs }));
                    work(classifier, queue, &source.alias);
                }
                Err(fault) => drop(report.send(Err(fault))),
            }
        })
        .context("failed to start the thread of the inferences")?;
    Ok(ready)
}

fn load<C: Classifier>(source: &Source) -> anyhow::Result<C> {
    let of_model = || format!("failed to load the model `{}`", source.model.display());
    let file = File::open(&source.model).with_context(of_model)?;
    let package = package::read(file).with_context(of_model)?;
    let environment = runtime::load(source.runtime.as_deref())?;
    let network =
        Network::load(&environment, &package.network, source.threads).with_context(of_model)?;
    drop(package.network);
    let settings = package.settings.or_else(|| network.metadata("link").map(String::into_bytes));
    let settings = settings.context(
        "the network does not say how it is used: put it into a tar archive as `model.onnx`, \
         together with a `model.json`, or write that JSON into its metadata under the key `link`",
    );
    let settings = settings.with_context(of_model)?;
    C::new(network, &settings, package.labels.as_deref()).with_context(of_model)
}

fn work<C: Classifier>(mut classifier: C, mut queue: mpsc::Receiver<Job>, alias: &str) {
    while let Some(Job { upload, cancel, started, reply }) = queue.blocking_recv() {
        if reply.is_closed() || started.send(()).is_err() {
            continue;
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| classifier.classify(&upload, &cancel)));
        let answer = outcome
            .unwrap_or_else(|_panic| Err(Refusal::failed("The classification panicked.")))
            .and_then(|outcome| {
                let created = SystemTime::now().duration_since(UNIX_EPOCH);
                let created = created.map_or(0, |since| since.as_secs());
                let answer = Answer { object: C::OBJECT, model: alias, created, outcome };
                serde_json::to_vec(&answer)
                    .map(Bytes::from)
                    .map_err(|_| Refusal::failed("The answer could not be written."))
            });
        // The client may have left during the inference.
        let _left = reply.send(answer);
    }
}
