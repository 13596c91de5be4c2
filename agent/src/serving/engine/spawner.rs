//! The single thread that starts, watches and stops engine processes.

#![expect(clippy::disallowed_methods, reason = "IO shell: processes and the clock")]

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, PoisonError,
        mpsc::{self, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use link_agent_core::{event::Event, run::Run};
use link_platform::{
    contain::{self, Contained, End, Look, Rules},
    fs,
    process::Program,
};
use link_protocol::{id::PipelineId, plugin::Manifest, secret::Secret, task::Task};
use tokio::sync::{Notify, oneshot};

use super::{Address, Channel, Running, Table};
use crate::inbox::Inbox;

/// How often to check the processes.
const TICK: Duration = Duration::from_millis(50);

/// How long an engine may take to stop before it is killed.
const PATIENCE: Duration = Duration::from_secs(3);

/// The number of log lines that an error quotes.
const LAST_LINES: usize = 3;

/// The length of the end of a log that is read for those lines, in bytes.
const LAST_BYTES: u64 = 8 * 1024;

/// An order for the thread.
#[derive(Debug)]
pub(super) enum Order {
    Start(Box<Start>),
    Stop { pipeline_id: PipelineId, run: Run },
    Kill { run: Run, reason: String },
    StopAll { done: oneshot::Sender<()> },
}

/// An engine to start.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) pipeline_id: PipelineId,
    pub(super) run: Run,
    pub(super) program: Program,
    pub(super) rules: Rules,
    pub(super) reached: Reached,
}

/// How a started engine is reached.
#[derive(Debug)]
pub(super) struct Reached {
    pub(super) channel: Channel,
    /// The engine's own folder, which is removed with it.
    pub(super) folder: PathBuf,
    pub(super) base_path: String,
    pub(super) secret: Secret,
    pub(super) manifest: Arc<Manifest>,
    pub(super) task: Option<Task>,
    pub(super) build: Option<Arc<str>>,
}

/// The thread's state.
#[derive(Debug)]
pub(super) struct Spawner {
    table: Table,
    /// Wakes the health checks.
    started: Arc<Notify>,
    inbox: Inbox,
    children: HashMap<Run, Child>,
    /// The program that supervises engines, on systems that have supervisors.
    supervisor: Option<PathBuf>,
}

#[derive(Debug)]
struct Child {
    pipeline_id: PipelineId,
    process: Contained,
    program: PathBuf,
    log: Option<PathBuf>,
    folder: PathBuf,
    /// How the engine is reached, until it runs.
    reached: Option<Reached>,
    /// When to kill a process that was asked to stop.
    kill_at: Option<Instant>,
    /// The reason for killing the process, if it was unresponsive.
    killed_for: Option<String>,
}

impl Spawner {
    pub(super) fn new(table: Table, started: Arc<Notify>, inbox: Inbox) -> Self {
        let supervisor = contain::supervisor();
        Self { table, started, inbox, children: HashMap::new(), supervisor }
    }

    /// Runs until every sender of orders is gone.
    pub(super) fn run(mut self, orders: &mpsc::Receiver<Order>) {
        loop {
            let order = if self.children.is_empty() {
                orders.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                orders.recv_timeout(TICK)
            };
            match order {
                Ok(Order::Start(start)) => self.start(*start),
                Ok(Order::Stop { pipeline_id, run }) => self.stop(pipeline_id, run),
                Ok(Order::Kill { run, reason }) => self.kill(run, reason),
                Ok(Order::StopAll { done }) => {
                    self.stop_all();
                    let _stopping = done.send(());
                    return;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.stop_all(),
            }
            self.look();
        }
    }

    fn start(&mut self, start: Start) {
        let Start { pipeline_id, run, program, rules, reached } = start;
        let folder = reached.folder.clone();
        match Contained::start(self.supervisor.as_deref(), &program, &rules) {
            Ok(process) => {
                let child = Child {
                    pipeline_id,
                    process,
                    program: program.path,
                    log: program.log,
                    folder,
                    reached: Some(reached),
                    kill_at: None,
                    killed_for: None,
                };
                self.children.insert(run, child);
            }
            Err(error) => {
                remove(&folder);
                let reason = not_started(&program.path, &error.to_string());
                self.inbox.event_blocking(Event::EngineEnded { pipeline_id, run, reason });
            }
        }
    }

    fn stop(&mut self, pipeline_id: PipelineId, run: Run) {
        match self.children.get_mut(&run) {
            Some(child) => {
                child.process.terminate();
                child.kill_at = Some(Instant::now() + PATIENCE);
            }
            None => self.inbox.event_blocking(Event::EngineStopped { pipeline_id, run }),
        }
    }

    /// Kills a hanging engine, which is then reported as if it had ended on its own.
    fn kill(&mut self, run: Run, reason: String) {
        if let Some(child) = self.children.get_mut(&run) {
            child.process.kill();
            child.killed_for = Some(reason);
        }
    }

    fn stop_all(&mut self) {
        for child in self.children.values_mut() {
            child.process.terminate();
        }
        let patience = Instant::now() + PATIENCE;
        while !self.children.is_empty() && Instant::now() < patience {
            self.children.retain(|_, child| child.still_runs());
            std::thread::sleep(TICK);
        }
        // Kill the remaining processes at the same time, before each one is waited for.
        self.children.values_mut().for_each(|child| child.process.kill());
        for (_run, child) in self.children.drain() {
            let folder = child.folder.clone();
            drop(child);
            remove(&folder);
        }
    }

    fn look(&mut self) {
        let now = Instant::now();
        let mut ended = Vec::new();
        for (run, child) in &mut self.children {
            if child.kill_at.is_some_and(|at| at <= now) {
                child.process.kill();
            }
            match child.process.look() {
                Ok(Look::Runs) => {}
                Ok(Look::Ended(end)) => ended.push((*run, end)),
                Err(error) => {
                    let how = format!("its exit status is unknown: {error}");
                    ended.push((*run, End { how, reason: None }));
                }
            }
            if let Some(pid) = child.process.id()
                && let Some(reached) = child.reached.take()
            {
                let pipeline_id = child.pipeline_id;
                tracing::info!(%pipeline_id, pid, "engine started");
                let running = reached.running(pipeline_id, pid);
                self.table.write().unwrap_or_else(PoisonError::into_inner).insert(*run, running);
                self.started.notify_one();
            }
        }
        for (run, end) in ended {
            self.table.write().unwrap_or_else(PoisonError::into_inner).remove(&run);
            let Some(child) = self.children.remove(&run) else { continue };
            let pipeline_id = child.pipeline_id;
            remove(&child.folder);
            let event = if child.kill_at.is_some() {
                Event::EngineStopped { pipeline_id, run }
            } else {
                let reason = child.ended_for(end);
                tracing::error!(%pipeline_id, "{reason}");
                Event::EngineEnded { pipeline_id, run, reason }
            };
            self.inbox.event_blocking(event);
        }
    }
}

/// Returns the build of an engine: the name of its folder.
pub(super) fn build_of(executable: &Path) -> Option<Arc<str>> {
    let folder = executable.parent()?.file_name()?;
    Some(Arc::from(folder.to_string_lossy()))
}

impl Reached {
    fn running(self, pipeline_id: PipelineId, pid: u32) -> Running {
        let Self { channel, folder: _, base_path, secret, manifest, task, build } = self;
        let address = Address { channel, base_path, secret, pid };
        Running { pipeline_id, address, manifest, task, build, healthy: false }
    }
}

impl Child {
    /// Returns whether the engine runs, and removes its folder if it does not.
    fn still_runs(&mut self) -> bool {
        let runs = matches!(self.process.look(), Ok(Look::Runs));
        if !runs {
            remove(&self.folder);
        }
        runs
    }

    /// Returns why the engine ended.
    fn ended_for(self, end: End) -> String {
        let never_ran = self.reached.is_some();
        match (self.killed_for, end.reason) {
            (Some(reason), _) => reason,
            (None, Some(reason)) if never_ran => not_started(&self.program, &reason),
            (None, Some(reason)) => format!("the engine was ended: {reason}"),
            (None, None) => describe(&end.how, self.log.as_deref()),
        }
    }
}

fn not_started(program: &Path, reason: &str) -> String {
    format!("the engine `{}` cannot be started: {reason}", program.display())
}

/// Removes the folder of an engine that has ended, with its socket and its secret.
fn remove(folder: &Path) {
    if let Err(error) = fs::remove_dir(folder) {
        tracing::warn!("{error}");
    }
}

fn describe(how: &str, log: Option<&Path>) -> String {
    let text = log.and_then(|path| fs::read_end(path, LAST_BYTES).ok()).unwrap_or_default();
    let lines: Vec<_> =
        text.lines().map(contain::without_time).filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LAST_LINES)..].join("; ");
    if last.is_empty() {
        format!("the engine ended ({how})")
    } else {
        format!("the engine ended ({how}): {last}")
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::inbox::Input;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_engine_that_is_given_up_is_told_as_a_crash_with_the_reason() {
        let (inbox, mut inputs) = Inbox::open();
        let (orders, queue) = mpsc::sync_channel(8);
        let table = Table::default();
        let mut spawner = Spawner::new(table.clone(), Arc::new(Notify::new()), inbox);
        // The program of a test cannot supervise.
        spawner.supervisor = None;
        let thread = std::thread::spawn(move || spawner.run(&queue));
        let pipeline_id = "pip_00000000000000000000000000000001".parse().unwrap();
        let (path, args) = ("sleep".into(), vec!["1000".into()]);
        let program = Program { path, args, env: vec![], log: None };
        let channel = Channel::Port("8080".parse().unwrap());
        let secret = Secret::new("secret");
        let manifest = crate::serving::plugins::language_model();
        let (base_path, task) = (String::new(), None);
        let folder = tempfile::tempdir().unwrap().keep();
        let reached = Reached {
            channel,
            folder: folder.clone(),
            base_path,
            secret,
            manifest,
            task,
            build: None,
        };
        let run = Run(1);
        let rules = Rules::default();
        let start = Start { pipeline_id, run, program, rules, reached };
        orders.send(Order::Start(Box::new(start))).unwrap();
        let pid = loop {
            if let Some(running) = table.read().unwrap().get(&Run(1)) {
                break running.address.pid;
            }
            tokio::time::sleep(TICK).await;
        };
        // A process stopped with SIGSTOP does not react to a request to end.
        let stopped = Command::new("kill").args(["-STOP", &pid.to_string()]).status().unwrap();
        assert!(stopped.success());
        orders.send(Order::Kill { run: Run(1), reason: "it hangs".to_owned() }).unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(30), inputs.recv()).await.unwrap();
        let Some(Input::Event(Event::EngineEnded { run, reason, .. })) = ended else {
            panic!("something else was told");
        };
        assert_eq!((run, reason.as_str()), (Run(1), "it hangs"));
        assert!(table.read().unwrap().is_empty());
        assert!(!folder.exists());
        drop(orders);
        thread.join().unwrap();
    }
}
