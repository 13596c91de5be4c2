//! A pipeline's thread: a source and a sink with a runtime of their own, so that nothing one of
//! them does holds up another.

use std::{future::Future, thread};

use anyhow::Context as _;
use tokio_util::sync::CancellationToken;

/// A running thread; dropping it asks the thread to end.
#[derive(Debug)]
pub(crate) struct Pipeline {
    stop: CancellationToken,
    thread: Option<thread::JoinHandle<()>>,
}

impl Pipeline {
    /// Starts a thread called `name` that runs `work` until it ends or the pipeline is dropped.
    pub(crate) fn spawn<F, Work>(name: &str, work: F) -> anyhow::Result<Self>
    where
        F: FnOnce(CancellationToken) -> Work + Send + 'static,
        Work: Future<Output = ()>,
    {
        let stop = CancellationToken::new();
        let token = stop.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .with_context(|| format!("cannot start the runtime of pipeline {name}"))?;
        let run = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = work(token.clone()) => {}
                    () = token.cancelled() => {}
                }
            });
            // A name that is being looked up, for example, must not hold up a stop.
            runtime.shutdown_background();
        };
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(run)
            .with_context(|| format!("cannot start the thread of pipeline {name}"))?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Pipeline {
    /// Lets the thread go on until its work ends by itself.
    pub(crate) fn detach(mut self) {
        self.thread = None;
        self.stop = CancellationToken::new();
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("a pipeline's thread panicked");
        }
    }
}
