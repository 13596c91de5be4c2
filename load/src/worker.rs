//! The processes of a fleet: [`child`] is one of them; [`Workers`] starts them, cuts them off
//! together and adds up their tallies.

pub(crate) mod child;

use std::{process::Stdio, time::Duration};

use anyhow::Context as _;
use link_load::fleet::Tally;
use link_protocol::id::CommandId;
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin, Command},
    sync::mpsc,
    task::JoinSet,
    time::Instant,
};

use crate::{args::Devices, machine};

/// An order for a process of a fleet, one JSON text per line.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// Cut every connection.
    Cut,
    /// Stop, once the record is on disk.
    Stop,
}

/// The processes of a fleet.
pub(crate) struct Workers {
    processes: Vec<Process>,
    tallies: Vec<Tally>,
    told: mpsc::Receiver<(usize, Tally)>,
    _readers: JoinSet<()>,
}

struct Process {
    child: Child,
    orders: ChildStdin,
}

/// The capacity of the queue of tallies.
const QUEUE: usize = 1_000;
/// How long a process may take to stop.
const STOP_PATIENCE: Duration = Duration::from_secs(20);

impl Workers {
    /// Starts the processes; their devices connect at once.
    pub(crate) fn start(devices: &Devices, acknowledgements: bool) -> anyhow::Result<Self> {
        machine::check_files(devices.devices, devices.processes)?;
        let (tell, told) = mpsc::channel(QUEUE);
        let mut readers = JoinSet::new();
        let mut processes = Vec::new();
        let (each, more) =
            (devices.devices / devices.processes, devices.devices % devices.processes);
        let mut first = 0;
        for number in 0..devices.processes {
            let count = each + usize::from(number < more);
            let mut child = spawn(devices, number, first, count, acknowledgements)?;
            first += count;
            let orders = child.stdin.take().context("a process has no standard input")?;
            let output = child.stdout.take().context("a process has no standard output")?;
            let tell = tell.clone();
            readers.spawn(async move {
                let mut lines = BufReader::new(output).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    let Ok(tally) = serde_json::from_str(&line) else { return };
                    if tell.send((number, tally)).await.is_err() {
                        return;
                    }
                }
            });
            processes.push(Process { child, orders });
        }
        let tallies = vec![Tally::default(); processes.len()];
        Ok(Self { processes, tallies, told, _readers: readers })
    }

    /// Waits for the next tally of any process. Returns the commands acknowledged since the
    /// previous tally of that process.
    pub(crate) async fn next(&mut self) -> anyhow::Result<Vec<(CommandId, u64)>> {
        let next = self.told.recv().await;
        let (number, mut tally) = next.context("all processes of the fleet have ended")?;
        let acknowledgements = std::mem::take(&mut tally.acknowledgements);
        self.tallies[number] = tally;
        Ok(acknowledgements)
    }

    /// Returns the sum of the latest tallies.
    pub(crate) fn tally(&self) -> Tally {
        self.tallies.iter().fold(Tally::default(), |mut sum, tally| {
            sum.add(tally);
            sum
        })
    }

    /// Waits up to `patience` until `enough` returns true for the sum of the tallies.
    pub(crate) async fn until(
        &mut self,
        what: &str,
        patience: Duration,
        enough: impl Fn(&Tally) -> bool,
    ) -> anyhow::Result<Tally> {
        let deadline = start() + patience;
        loop {
            let tally = self.tally();
            if enough(&tally) {
                return Ok(tally);
            }
            let next = tokio::time::timeout_at(deadline, self.next()).await;
            next.with_context(|| format!("timed out before {what}: {tally:?}"))??;
        }
    }

    /// Sends an order to every process.
    pub(crate) async fn order(&mut self, order: Order) -> anyhow::Result<()> {
        let line = format!("{}\n", serde_json::to_string(&order)?);
        for process in &mut self.processes {
            process.orders.write_all(line.as_bytes()).await.context("a process has ended")?;
            process.orders.flush().await.context("a process has ended")?;
        }
        Ok(())
    }

    /// Stops every process, after each has written its record.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        self.order(Order::Stop).await?;
        drop(self.told);
        for process in &mut self.processes {
            let ended = tokio::time::timeout(STOP_PATIENCE, process.child.wait()).await;
            let status = ended.context("a process does not stop")?.context("a process is lost")?;
            anyhow::ensure!(status.success(), "a process of the fleet ended with {status}");
        }
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "IO shell: a deadline")]
fn start() -> Instant {
    Instant::now()
}

#[expect(
    clippy::disallowed_methods,
    reason = "IO shell: starts this very program again; it ends with its standard input"
)]
fn spawn(
    devices: &Devices,
    number: usize,
    first: usize,
    count: usize,
    acknowledgements: bool,
) -> anyhow::Result<Child> {
    let program = std::env::current_exe().context("cannot find the path of this program")?;
    let mut command = Command::new(program);
    command
        .arg("worker")
        .args(["--backend", &devices.backend])
        .args(["--over", devices.over.name()])
        .arg("--identities")
        .arg(&devices.identities)
        .args(["--devices", &count.to_string(), "--first", &first.to_string()])
        .args(["--work-ms", &devices.work_ms.to_string()])
        .args(["--duplicate", &devices.faults.duplicate.to_string()])
        .args(["--lose-receipts", &devices.faults.lose_receipts.to_string()])
        .args(["--lose-answers", &devices.faults.lose_answers.to_string()])
        .args(["--restart", &devices.faults.restart.to_string()])
        .args(["--seed", &(devices.faults.seed + number as u64).to_string()]);
    if let Some(record) = &devices.record {
        let mut name = record.clone().into_os_string();
        if number > 0 {
            name.push(format!(".{number}"));
        }
        command.arg("--record").arg(name);
    }
    if acknowledgements {
        command.arg("--acknowledgements");
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    command.spawn().context("failed to start a process of the fleet")
}
