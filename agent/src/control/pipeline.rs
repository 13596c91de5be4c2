//! The thread of a pipeline: a source and a sink with their own runtime, so that neither can block
//! other pipelines.

#![expect(clippy::disallowed_methods, reason = "IO shell: threads, the clock, waits")]

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Instant,
};

use anyhow::Context as _;
use link_agent_core::backoff::Backoff;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// The kind of runtime for a pipeline.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Threads {
    One,
    /// For zenoh, which refuses a runtime with a single thread.
    WithWorker,
}

/// A running thread; dropping it asks the thread to stop.
#[derive(Debug)]
pub(crate) struct Pipeline {
    stop: CancellationToken,
    thread: Option<thread::JoinHandle<()>>,
    restarts: Arc<AtomicU64>,
}

impl Pipeline {
    /// Starts a thread called `name` that runs `work` until the work ends or the pipeline is
    /// dropped.
    pub(crate) fn spawn<F, Work>(name: &str, work: F) -> anyhow::Result<Self>
    where
        F: FnOnce(CancellationToken) -> Work + Send + 'static,
        Work: Future<Output = ()>,
    {
        let stop = CancellationToken::new();
        let token = stop.clone();
        let runtime = runtime(name, Threads::One)?;
        let run = move || {
            runtime.block_on(until_stopped(&token, work(token.clone())));
            // A blocking DNS lookup, for example, must not delay a stop.
            runtime.shutdown_background();
        };
        let thread = start(name, run)?;
        Ok(Self { stop, thread: Some(thread), restarts: Arc::default() })
    }

    /// Starts a thread called `name` that runs the future from `work` until the pipeline is
    /// dropped. If the future panics or ends, this is logged and `work` is called again after a
    /// growing wait. Other threads are unaffected.
    pub(crate) fn supervise<F, Work>(name: &str, threads: Threads, work: F) -> anyhow::Result<Self>
    where
        F: Fn() -> Work + Send + 'static,
        Work: Future<Output = anyhow::Result<()>>,
    {
        let stop = CancellationToken::new();
        let restarts = Arc::<AtomicU64>::default();
        let runtime = runtime(name, threads)?;
        let (token, counter, id) = (stop.clone(), restarts.clone(), name.to_owned());
        let run = move || {
            let mut backoff = Backoff::default();
            while !token.is_cancelled() {
                let began = Instant::now();
                let one_run = || runtime.block_on(async { until_stopped(&token, work()).await });
                let ended = catch_unwind(AssertUnwindSafe(one_run));
                if token.is_cancelled() {
                    break;
                }
                let wait = backoff.ended(began.elapsed());
                let reason = match ended {
                    Ok(None | Some(Ok(()))) => "it stopped".to_owned(),
                    Ok(Some(Err(error))) => format!("{error:#}"),
                    Err(_) => "it panicked".to_owned(),
                };
                tracing::error!(
                    category = "pipeline",
                    "pipeline {id}: {reason}; restarting in {} s",
                    wait.as_secs()
                );
                counter.fetch_add(1, Ordering::Relaxed);
                let pause = async { until_stopped(&token, tokio::time::sleep(wait)).await };
                runtime.block_on(pause);
            }
            runtime.shutdown_background();
        };
        let thread = start(name, run)?;
        Ok(Self { stop, thread: Some(thread), restarts })
    }

    /// Returns the counter of restarts, which stays up to date.
    pub(crate) fn restarts(&self) -> Arc<AtomicU64> {
        self.restarts.clone()
    }

    /// Lets the thread run until its work ends.
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

/// Returns the result of `work`, or `None` if the pipeline is stopped first.
async fn until_stopped<T>(stop: &CancellationToken, work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        () = stop.cancelled() => None,
        ended = work => Some(ended),
    }
}

fn runtime(name: &str, threads: Threads) -> anyhow::Result<Runtime> {
    let mut builder = match threads {
        Threads::One => tokio::runtime::Builder::new_current_thread(),
        Threads::WithWorker => tokio::runtime::Builder::new_multi_thread(),
    };
    builder
        .worker_threads(1)
        .thread_name(name)
        .enable_all()
        .build()
        .with_context(|| format!("cannot start the runtime of pipeline {name}"))
}

fn start(
    name: &str,
    run: impl FnOnce() + Send + 'static,
) -> anyhow::Result<thread::JoinHandle<()>> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .with_context(|| format!("cannot start the thread of pipeline {name}"))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    // Holds: S2.3-3b
    #[test]
    fn each_pipeline_has_a_thread_of_its_own_and_one_that_blocks_delays_no_other() {
        let (told, threads) = mpsc::channel();
        let (release, blocked) = mpsc::channel::<()>();
        let blocked = std::sync::Mutex::new(blocked);
        let tell = told.clone();
        let blocking = Pipeline::spawn("blocking", move |_stop| async move {
            tell.send((thread::current().id(), thread::current().name().map(str::to_owned)))
                .unwrap();
            let _released = blocked.lock().unwrap().recv();
        });
        let first = threads.recv().unwrap();
        let free = Pipeline::spawn("free", move |_stop| async move {
            told.send((thread::current().id(), thread::current().name().map(str::to_owned)))
                .unwrap();
        });
        let second = threads.recv().unwrap();
        assert_eq!((first.1.as_deref(), second.1.as_deref()), (Some("blocking"), Some("free")));
        assert!(first.0 != second.0 && first.0 != thread::current().id());
        release.send(()).unwrap();
        drop((blocking.unwrap(), free.unwrap()));
    }

    #[test]
    fn what_panics_or_ends_is_started_again_and_others_do_not_notice() {
        let (runs, ran) = mpsc::channel();
        let (others, heard) = mpsc::channel();
        let other = Pipeline::supervise("other", Threads::One, move || {
            let others = others.clone();
            async move {
                loop {
                    others.send(()).unwrap();
                    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                }
            }
        });
        let pipeline = Pipeline::supervise("fragile", Threads::One, move || {
            let runs = runs.clone();
            async move {
                runs.send(()).unwrap();
                assert!(thread::current().name() != Some("fragile"), "as it was planned");
                Ok(())
            }
        })
        .unwrap();
        ran.recv().unwrap();
        ran.recv().unwrap();
        assert!(pipeline.restarts().load(Ordering::Relaxed) >= 1);
        drop(pipeline);
        assert!(ran.recv().is_err(), "a dropped pipeline is not started again");
        heard.try_iter().for_each(drop);
        heard.recv().unwrap();
        assert_eq!(other.unwrap().restarts().load(Ordering::Relaxed), 0);
    }
}
