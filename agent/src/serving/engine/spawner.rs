//! The single thread that starts, watches and stops engine processes.

#![expect(clippy::disallowed_methods, reason = "IO shell: processes and the clock")]

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    process::ExitStatus,
    sync::{
        Arc, PoisonError,
        mpsc::{self, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use link_agent_core::{event::Event, run::Run};
use link_platform::{
    fs,
    process::{Program, TiedChild},
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

/// The size above which an engine's log is truncated, in bytes.
const LOG_LIMIT: u64 = 8 * 1024 * 1024;

/// The number of ticks between two checks of the logs.
const LOG_TICKS: u32 = 600;

/// An order for the thread.
#[derive(Debug)]
pub(super) enum Order {
    Start { pipeline_id: PipelineId, run: Run, program: Program, reached: Reached },
    Stop { pipeline_id: PipelineId, run: Run },
    Kill { run: Run, reason: String },
    StopAll { done: oneshot::Sender<()> },
}

/// How a started engine is reached.
#[derive(Debug)]
pub(super) struct Reached {
    pub(super) channel: Channel,
    pub(super) base_path: String,
    pub(super) secret: Secret,
    pub(super) manifest: Arc<Manifest>,
    pub(super) task: Option<Task>,
}

/// The thread's state.
#[derive(Debug)]
pub(super) struct Spawner {
    table: Table,
    /// Wakes the health checks.
    started: Arc<Notify>,
    inbox: Inbox,
    children: HashMap<Run, Child>,
    ticks: u32,
}

#[derive(Debug)]
struct Child {
    pipeline_id: PipelineId,
    process: TiedChild,
    log: Option<PathBuf>,
    channel: Channel,
    /// When to kill a process that was asked to stop.
    kill_at: Option<Instant>,
    /// The reason for killing the process, if it was unresponsive.
    killed_for: Option<String>,
}

impl Spawner {
    pub(super) fn new(table: Table, started: Arc<Notify>, inbox: Inbox) -> Self {
        Self { table, started, inbox, children: HashMap::new(), ticks: 0 }
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
                Ok(Order::Start { pipeline_id, run, program, reached }) => {
                    self.start(pipeline_id, run, &program, reached);
                }
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

    fn start(&mut self, pipeline_id: PipelineId, run: Run, program: &Program, reached: Reached) {
        let Reached { channel, base_path, secret, manifest, task } = reached;
        // Remove the socket of a killed engine, which would keep this one from listening.
        remove_socket(&channel);
        match TiedChild::start(program) {
            Ok(process) => {
                tracing::info!(%pipeline_id, pid = process.id(), "engine started");
                let (channel_of_address, pid) = (channel.clone(), process.id());
                let address = Address { channel: channel_of_address, base_path, secret, pid };
                let running = Running { pipeline_id, address, manifest, task, healthy: false };
                self.table.write().unwrap_or_else(PoisonError::into_inner).insert(run, running);
                self.started.notify_one();
                let log = program.log.clone();
                let child =
                    Child { pipeline_id, process, log, channel, kill_at: None, killed_for: None };
                self.children.insert(run, child);
            }
            Err(error) => {
                let reason =
                    format!("the engine `{}` cannot be started: {error}", program.path.display());
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
        for child in self.children.values() {
            child.process.terminate();
        }
        let patience = Instant::now() + PATIENCE;
        while Instant::now() < patience
            && self.children.values_mut().any(|child| matches!(child.process.try_wait(), Ok(None)))
        {
            std::thread::sleep(TICK);
        }
        // Dropping the remaining processes kills them.
        self.children.clear();
    }

    fn look(&mut self) {
        let now = Instant::now();
        self.ticks = (self.ticks + 1) % LOG_TICKS;
        if self.ticks == 0 {
            for log in self.children.values().filter_map(|child| child.log.as_deref()) {
                if let Err(error) = fs::truncate_above(log, LOG_LIMIT) {
                    tracing::warn!("{error}");
                }
            }
        }
        let mut ended = Vec::new();
        for (run, child) in &mut self.children {
            if child.kill_at.is_some_and(|at| at <= now) {
                child.process.kill();
            }
            match child.process.try_wait() {
                Ok(None) => {}
                Ok(Some(status)) => ended.push((*run, Ok(status))),
                Err(error) => ended.push((*run, Err(error))),
            }
        }
        for (run, status) in ended {
            self.table.write().unwrap_or_else(PoisonError::into_inner).remove(&run);
            let Some(child) = self.children.remove(&run) else { continue };
            let pipeline_id = child.pipeline_id;
            remove_socket(&child.channel);
            let event = if child.kill_at.is_some() {
                Event::EngineStopped { pipeline_id, run }
            } else {
                let ended = || describe(status, child.log.as_deref());
                let reason = child.killed_for.unwrap_or_else(ended);
                tracing::error!(%pipeline_id, "{reason}");
                Event::EngineEnded { pipeline_id, run, reason }
            };
            self.inbox.event_blocking(event);
        }
    }
}

/// Removes the socket of an engine that has ended.
fn remove_socket(channel: &Channel) {
    match channel {
        Channel::Socket(path) => {
            if let Err(error) = fs::remove_file(path) {
                tracing::warn!("{error}");
            }
        }
        Channel::Port(_) => {}
    }
}

fn describe(status: io::Result<ExitStatus>, log: Option<&Path>) -> String {
    let how = match status {
        Ok(status) => status.to_string(),
        Err(error) => format!("its exit status is unknown: {error}"),
    };
    let text = log.and_then(|path| fs::read_end(path, LAST_BYTES).ok()).unwrap_or_default();
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
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
        let spawner = Spawner::new(table.clone(), Arc::new(Notify::new()), inbox);
        let thread = std::thread::spawn(move || spawner.run(&queue));
        let pipeline_id = "pip_00000000000000000000000000000001".parse().unwrap();
        let (path, args) = ("sleep".into(), vec!["1000".into()]);
        let program = Program { path, args, env: vec![], log: None };
        let channel = Channel::Port("8080".parse().unwrap());
        let secret = Secret::new("secret");
        let manifest = crate::serving::plugins::language_model();
        let (base_path, task) = (String::new(), None);
        let reached = Reached { channel, base_path, secret, manifest, task };
        let run = Run(1);
        orders.send(Order::Start { pipeline_id, run, program, reached }).unwrap();
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
        drop(orders);
        thread.join().unwrap();
    }
}
